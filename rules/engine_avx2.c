/*
 * rules/engine_avx2.c - the engine for x86-64 machines with AVX2, BMI2 and POPCNT.
 */
#include "rules/engine.h"

#if defined(RULES_X86_64)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))),             \
                             apply_to = function)
#else
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif
#define ENGINE engine_avx2
#define ENGINE_NAME "avx2"
#define ENGINE_AVX2 1
#include "rules/engine_impl.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
