/*
 * rules/engine_plain.c - the engine for any machine.
 */
#define ENGINE engine_plain
#define ENGINE_NAME "plain"
#include "rules/engine_impl.h"
