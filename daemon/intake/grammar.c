#include "intake/grammar.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/grammar_line.h"

static const struct {
    const char *word;
    bool acts;
} kinds[COMMAND_COUNT_] = {
#define X(name, word, acts) {word, acts},
    COMMAND_LIST(X)
#undef X
};

static const char *const faults[GRAMMAR_FAULT_COUNT_] = {
#define X(name, slug) slug,
    GRAMMAR_FAULT_LIST(X)
#undef X
};

static const char *const wants[WANT_COUNT_] = {
#define X(name, slug) slug,
    GRAMMAR_WANT_LIST(X)
#undef X
};

const char *command_word(enum command_kind kind)
{
    assert(kind < COMMAND_COUNT_);
    return kinds[kind].word;
}

bool command_acts(enum command_kind kind)
{
    assert(kind < COMMAND_COUNT_);
    return kinds[kind].acts;
}

const char *grammar_fault_slug(enum grammar_fault fault)
{
    assert(fault < GRAMMAR_FAULT_COUNT_);
    return faults[fault];
}

const char *grammar_want_slug(enum grammar_want want)
{
    assert(want < WANT_COUNT_);
    return wants[want];
}

/* ------------------------------------------------------------------------------- paragraphs */

enum grammar_fault grammar_fault_at(struct grammar *g, enum grammar_fault fault,
                                    const struct grammar_line *line)
{
    g->fault = fault;
    g->n = 0;
    if (line) {
        g->fault_line = line->number;
        grammar_show(line->text, g->fault_shown);
    }
    return fault;
}

bool grammar_would_act(const char *text)
{
    struct command command;
    const char *note;
    size_t note_n;

    return grammar_take_line(text, false, &command, &note, &note_n) == TAKEN_COMMAND &&
           command_acts(command.kind);
}

static bool is_empty(const char *text)
{
    const char *from;
    size_t n;

    grammar_trim(text, &from, &n);
    return n == 0;
}

/* A note's words as they were written, if the raw line shows where they begin. */
static void note_raw(const struct grammar_line *line, bool is_first, const char **text, size_t *n)
{
    const char *from, *words;
    size_t whole, some;

    if (!line->raw)
        return;
    grammar_trim(line->raw, &from, &whole);
    if (!is_first) {
        *text = from;
        *n = whole;
        return;
    }
    words = grammar_note_text(from, whole, &some);
    if (words && some > 0) {
        *text = words;
        *n = some;
    }
}

static bool note_add(struct grammar *g, const char *text, size_t n)
{
    size_t gap = g->note_len > 0;

    if (g->note_len + gap + n >= sizeof g->note)
        return false;
    if (gap)
        g->note[g->note_len++] = ' ';
    memcpy(g->note + g->note_len, text, n);
    g->note_len += n;
    g->note[g->note_len] = '\0';
    return true;
}

/* Rule 5: the lines below a long note.  *at is the note's line, and then the last one it took. */
static enum grammar_fault note_goes_on(struct grammar *g, const struct grammar_line *lines,
                                       size_t end, size_t *at)
{
    while (*at + 1 < end) {
        const struct grammar_line *line = &lines[*at + 1];
        struct command command;
        const char *note, *from;
        size_t note_n, n;

        if (grammar_take_line(line->text, false, &command, &note, &note_n) != TAKEN_NONE) {
            g->uses[*at + 1] = LINE_FAULT;
            return grammar_fault_at(g, GRAMMAR_NOTE_WRAPPED, line);
        }
        grammar_trim(line->text, &from, &n);
        note_raw(line, false, &from, &n);
        if (!note_add(g, from, n))
            return grammar_fault_at(g, GRAMMAR_TOO_LONG, line);
        g->uses[++*at] = LINE_NOTE_GOES_ON;
    }
    return GRAMMAR_NONE;
}

static enum grammar_fault keep(struct grammar *g, const struct command *command,
                               const struct grammar_line *line, const char *note, size_t note_n)
{
    struct command *c;

    if (g->n == GRAMMAR_COMMANDS_MAX)
        return grammar_fault_at(g, GRAMMAR_TOO_MANY, line);
    if (note && note_n > 0) {
        if (g->note_len > 0) /* one note a letter: a second could only be run together with it */
            return grammar_fault_at(g, GRAMMAR_TOO_MANY, line);
        note_raw(line, true, &note, &note_n);
        if (!note_add(g, note, note_n))
            return grammar_fault_at(g, GRAMMAR_TOO_LONG, line);
    }
    c = &g->commands[g->n++];
    *c = *command;
    c->line = line->number;
    grammar_show(line->text, c->shown);
    if (note && note_n > 0)
        (void)str_copy(c->text, sizeof c->text, "+"); /* has a text: in grammar.note */
    return GRAMMAR_NONE;
}

/* Lines from `at` to `end`, none of them empty.  *ret_end: `end` was read.  *ret_at: where what it
 * read ends; before `end` only at a line of marks. */
static enum grammar_fault read_paragraph(struct grammar *g, const struct grammar_line *lines,
                                         size_t at, size_t end, bool is_first, size_t *ret_at,
                                         bool *ret_end)
{
    for (*ret_at = end; at < end; at++) {
        struct command command;
        const char *note = NULL;
        size_t note_n = 0;
        enum grammar_fault fault = GRAMMAR_NONE;

        if (grammar_is_marks(lines[at].text)) {
            *ret_at = at;
            return GRAMMAR_NONE;
        }
        g->uses[at] = LINE_FAULT;
        switch (grammar_take_line(lines[at].text, is_first, &command, &note, &note_n)) {
        case TAKEN_NONE:
            return grammar_fault_unknown(g, &lines[at]);
        case TAKEN_BAD:
            return grammar_fault_argument(g, &lines[at], is_first);
        case TAKEN_TOO_LONG:
            g->fault_command = command.kind;
            return grammar_fault_at(g, GRAMMAR_TOO_LONG, &lines[at]);
        case TAKEN_END:
            g->uses[at] = LINE_END;
            *ret_end = true;
            for (at++; at < end; at++)
                g->uses[at] = LINE_PROSE;
            return GRAMMAR_NONE;
        case TAKEN_COMMAND:
            fault = keep(g, &command, &lines[at], note, note_n);
            if (fault != GRAMMAR_NONE)
                return fault;
            g->uses[at] = LINE_COMMAND;
            if (note && note_n >= NOTE_WRAP)
                fault = note_goes_on(g, lines, end, &at);
            if (fault != GRAMMAR_NONE)
                return fault;
            break;
        }
    }
    return GRAMMAR_NONE;
}

/* Rule 4.  True: it was prose, and reading ends here. */
static bool is_prose(struct grammar *g, const struct grammar_line *lines, size_t at, size_t end,
                     size_t *ret_at, bool *ret_end)
{
    struct command first;
    const char *note;
    size_t note_n, n = g->n, note_len = g->note_len;
    enum grammar_taken taken = grammar_take_line(lines[at].text, false, &first, &note, &note_n);

    if (taken == TAKEN_NONE || taken == TAKEN_BAD)
        return true;
    if (read_paragraph(g, lines, at, end, false, ret_at, ret_end) == GRAMMAR_NONE)
        return false;
    if (taken == TAKEN_COMMAND && !command_acts(first.kind) &&
        (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_ARGUMENT)) {
        g->fault = GRAMMAR_NONE; /* it asked nothing that matters: prose after all */
        g->fault_line = 0;
        g->fault_shown[0] = g->fault_word[0] = g->guess[0] = '\0';
        g->n = n;
        g->note_len = note_len;
        g->note[note_len] = '\0';
        return true;
    }
    if (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_ARGUMENT)
        g->fault = GRAMMAR_MIXED;
    return false;
}

static void begin(struct grammar *g, size_t n)
{
    memset(g, 0, sizeof *g);
    g->n_uses = n < GRAMMAR_LINES_MAX ? n : GRAMMAR_LINES_MAX;
}

enum grammar_fault grammar_read(const struct grammar_line *lines, size_t n, struct grammar *ret)
{
    struct grammar *g = ret;
    bool is_first = true, is_end = false;
    size_t at = 0, end, stop = 0;

    begin(g, n);
    if (n > GRAMMAR_LINES_MAX) {
        /* Far more than anybody writes: below a command that is prose, else it is a fault. */
        n = GRAMMAR_LINES_MAX;
    }
    while (at < n && !is_end) {
        if (is_empty(lines[at].text) || grammar_is_marks(lines[at].text)) {
            g->uses[at++] = LINE_EMPTY;
            continue;
        }
        for (end = at; end < n && !is_empty(lines[end].text); end++)
            ;
        if (!is_first && is_prose(g, lines, at, end, &stop, &is_end)) {
            g->unread_from = lines[at].number;
            break;
        }
        if (is_first)
            (void)read_paragraph(g, lines, at, end, true, &stop, &is_end);
        if (g->fault != GRAMMAR_NONE)
            return g->fault;
        is_first = false;
        at = stop;
    }
    for (; at < n; at++)
        g->uses[at] = is_empty(lines[at].text) ? LINE_EMPTY : LINE_PROSE;
    if (g->n == 0)
        return grammar_fault_at(g, GRAMMAR_EMPTY, NULL);
    return GRAMMAR_NONE;
}

enum grammar_fault grammar_read_between(const struct grammar_line *lines, size_t n,
                                        struct grammar *ret)
{
    struct grammar *g = ret;
    size_t found = 0;

    begin(g, n);
    for (size_t i = 0; i < g->n_uses; i++) {
        struct command command;
        const char *note;
        size_t note_n;

        g->uses[i] = is_empty(lines[i].text) ? LINE_EMPTY : LINE_PROSE;
        if (grammar_take_line(lines[i].text, false, &command, &note, &note_n) != TAKEN_COMMAND)
            continue;
        g->uses[i] = LINE_COMMAND;
        if (++found == 1 && keep(g, &command, &lines[i], note, note_n) != GRAMMAR_NONE)
            return g->fault;
    }
    if (found != 1)
        return grammar_fault_at(g, GRAMMAR_NOT_ONE, NULL);
    return GRAMMAR_NONE;
}
