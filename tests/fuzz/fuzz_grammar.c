/* The reply area of a letter: what its lines are read as, from the top and from between quotes. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/grammar.h"

enum { LINES_MAX = GRAMMAR_LINES_MAX + 20, GAME_ID = 8 };

static void check(const struct grammar *g, size_t n)
{
    must(g->fault < GRAMMAR_FAULT_COUNT_);
    must((g->fault == GRAMMAR_NONE) == (g->n > 0));
    must(g->n <= GRAMMAR_COMMANDS_MAX);
    must(g->note_len < sizeof g->note && g->note[g->note_len] == '\0');
    must(g->n_uses <= n && g->n_uses <= GRAMMAR_LINES_MAX);
    must(memchr(g->fault_shown, '\0', sizeof g->fault_shown) != NULL);
    must(memchr(g->guess, '\0', sizeof g->guess) != NULL);
    for (size_t i = 0; i < g->n; i++) {
        const struct command *c = &g->commands[i];

        must(c->kind < COMMAND_COUNT_);
        must(c->line >= 1 && c->line <= (int)n);
        must(memchr(c->text, '\0', sizeof c->text) != NULL);
        must(c->square >= -1 && c->square < 256);
        must(c->kind != COMMAND_MOVE || grammar_is_move(c->text));
        must(c->kind != COMMAND_SEAT || (c->seat >= 0 && c->seat < 4));
        must(c->seat >= -1 && c->seat < 4);
        must(c->kind != COMMAND_JOIN || strlen(c->text) == GAME_ID);
        if (c->kind == COMMAND_LEAVE || c->kind == COMMAND_STATUS || c->kind == COMMAND_BOARD)
            must(c->text[0] == '\0' || strlen(c->text) == GAME_ID);
        for (int k = 0; k < 3; k++)
            must((c->squares[k] >= 0) == (c->kind == COMMAND_PLACE));
        must(i == 0 || c->line > g->commands[i - 1].line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct grammar g, again;
    static struct grammar_line lines[LINES_MAX];
    char *text = malloc(size + 1), *at = text;
    size_t n = 0;

    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < size; i++) /* a letter with a NUL never comes so far */
        if (!text[i])
            text[i] = ' ';
    while (at && n < LINES_MAX) {
        char *end = strchr(at, '\n');

        if (end)
            *end = '\0';
        lines[n] = (struct grammar_line){.text = at, .raw = n % 2 ? at : NULL,
                                         .number = (int)n + 1};
        n++;
        at = end ? end + 1 : NULL;
    }
    (void)grammar_read(lines, n, &g);
    check(&g, n);
    (void)grammar_read(lines, n, &again);
    must(g.fault == again.fault && g.n == again.n && g.fault_line == again.fault_line &&
         memcmp(g.uses, again.uses, sizeof g.uses) == 0); /* it depends on nothing else */
    (void)grammar_read_between(lines, n, &g);
    check(&g, n);
    must(g.n <= 1);
    free(text);
    return 0;
}
