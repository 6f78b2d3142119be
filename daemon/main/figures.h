/*
 * main/figures.h - the figures of the writer, the courier and the store for Prometheus.
 *
 * Lines in the text format 0.0.4, to be put after those of http.  Labels come from fixed sets.
 * Threads: any; a reader is borrowed from the store's pool for the moment.
 */
#ifndef FH_MAIN_FIGURES_H
#define FH_MAIN_FIGURES_H

#include "base/buf.h"

struct courier;
struct engine;

/* One figure with its head: name without "fourhanded_", "counter" or "gauge", a sentence. */
void figure_print(struct buf *out, const char *name, const char *type, const char *help,
                  double value);

void figures_print(struct engine *engine, struct courier *courier, struct buf *out);

#endif
