/*
 * rules/engine_avx512.c - the engine for x86-64 machines with AVX-512 (VL, BW, VPOPCNTDQ).
 */
#include "rules/engine.h"

#if defined(RULES_X86_64)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(                                                                    \
    __attribute__((target(                                                                       \
        "avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq"))),      \
    apply_to = function)
#else
#pragma GCC target(                                                                              \
    "avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq")
#endif
#define ENGINE engine_avx512
#define ENGINE_NAME "avx512"
#define ENGINE_AVX2 1
#define ENGINE_AVX512 1
#include "rules/engine_impl.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
