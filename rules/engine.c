/*
 * rules/engine.c - which build of the engine runs on this machine.
 */
#include "rules/engine.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic(const struct engine *) chosen;

static const struct engine *best_engine(void)
{
#if defined(RULES_X86_64)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("bmi2"))
        return &engine_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        return &engine_avx2;
#endif
    return &engine_plain;
}

const struct engine *engine(void)
{
    const struct engine *e = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (e == NULL) {
        e = best_engine();
        atomic_store_explicit(&chosen, e, memory_order_relaxed);
    }
    return e;
}

bool engine_choose(const char *name)
{
    const struct engine *best = best_engine();
    const struct engine *found = NULL;

    if (strcmp(name, "plain") == 0)
        found = &engine_plain;
    else if (strcmp(name, best->name) == 0)
        found = best;
#if defined(RULES_X86_64)
    else if (strcmp(name, "avx2") == 0 && best == &engine_avx512)
        found = &engine_avx2;
#endif
    if (found == NULL)
        return false;
    atomic_store_explicit(&chosen, found, memory_order_relaxed);
    return true;
}
