/*
 * main/tool.h - what the tools of `fourhanded rules` share (internal to main).
 *
 * cmd_rules.c holds the table of the tools, reads the command line into a struct tool_args and
 * calls the tool's function.  A tool answers standard input line by line:
 *
 *     tool_each_line(args, answer)    calls answer(args, line) for every line
 *       line_cut(line, &rest)         "POSITION | REST"
 *       tool_read_position(…)         the position, or a sentence that says why it is none
 *       tool_refuse(args, "%s", …)    the answer "! …"; the exit status will be CLI_FAILED
 *
 * One that reads otherwise has a struct tool_input of its own and ends with tool_finish().
 *
 * Ownership: the strings in struct tool_args are argv's.  A line is the input's, may be written
 *   upon, and is gone with the next one.
 * Threads: the main thread.  Exit statuses: cli.h.
 */
#ifndef FH_MAIN_TOOL_H
#define FH_MAIN_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "rules/notation.h"
#include "rules/rules.h"

enum {
    LINE_MAX_BYTES = 1 << 20, /* of one line of input */
    SENTENCE_MAX = 512
};

/* ---------------------------------------------------------------- the command line */

enum tool_option { OPT_VARIANT, OPT_DIVIDE, OPT_EACH, OPT_SPOKEN, OPT_SIDE, OPT_NARROW, OPT_WIDTH,
                   OPT_NO_LEGEND, OPT_FROM, OPT_TO, OPT_CORNERS, OPT_FINAL, OPTIONS };

struct tool;

struct tool_args {
    const struct tool *tool;
    const char *value[OPTIONS]; /* "" for one without a value that is given */
    struct variant variant[GAMES];
    int variants;
    const char *operand[16];
    int operands;
    bool has_failed; /* a line was refused or disagreed */
};

struct tool {
    const char *name, *operands, *summary, *details;
    unsigned options; /* bit: enum tool_option */
    int least, most;  /* operands */
    int (*run)(struct tool_args *args);
};

/* ---------------------------------------------------------------- tool_input.c */

struct tool_input {
    char block[1 << 16];
    size_t from, to; /* of what has been read and not given out */
    struct buf line;
    long number; /* of the line, from 1 */
    bool is_over, has_failed;
};

/* NULL: out of memory. */
struct tool_input *input_new(void);
void input_free(struct tool_input *in);
/* More bytes; what was answered goes out first, so that a program that waits for it gets it.
 * false at the end and after a failure, which has been said. */
bool input_fill(struct tool_input *in);
/* The next line without its end; NULL at the end of the input.  A line that is too long comes
 * back empty with *ret_too_long. */
char *input_line(struct tool_input *in, bool *ret_too_long);

/* The answer to a line that has none. */
void tool_refuse(struct tool_args *args, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The exit status, when all answers are out.  in may be NULL. */
int tool_finish(const struct tool_args *args, const struct tool_input *in);
/* Calls answer() for every line; returns the exit status. */
int tool_each_line(struct tool_args *args, void (*answer)(struct tool_args *args, char *line));

/* ---------------------------------------------------------------- tool_line.c */

char *line_trim(char *text);
/* Cuts text at the first '|': what is before it, trimmed; *ret_rest what is behind, or NULL. */
char *line_cut(char *text, char **ret_rest);
/* The move in "POSITION | MOVE" or in a case, "POSITION | LEGAL MOVES | MOVE -> …", of which rest
 * is what line_cut() found behind the position; NULL when there is none. */
char *line_move(char *rest);

/* The variant of a game: as --variant says, or with the usual house rules. */
void tool_choose_variant(const struct tool_args *args, struct variant *variant);
/* Reads a position of whichever game; otherwise sentence says why not. */
bool tool_read_position(const struct tool_args *args, const char *text, struct position *ret,
                        char sentence[SENTENCE_MAX]);
/* Plays what stands where a move would: a move in any notation, or "resign w"; otherwise sentence
 * says why not.  ret_spoken may be NULL; it is untouched when somebody leaves. */
bool tool_play_text(struct position *pos, const char *text, struct spoken *ret_spoken,
                    char sentence[SENTENCE_MAX]);
/* The legal moves, sorted by byte, parted by spaces. */
void tool_legal_moves(const struct position *pos, struct buf *out);

/* ---------------------------------------------------------------- the tools, a file each */

int tool_legal(struct tool_args *args);    /* tool_moves.c */
int tool_play(struct tool_args *args);     /* tool_moves.c */
int tool_notation(struct tool_args *args); /* tool_moves.c */
int tool_validate(struct tool_args *args); /* tool_moves.c */
int tool_perft(struct tool_args *args);
int tool_show(struct tool_args *args);
int tool_check(struct tool_args *args);
int tool_convert(struct tool_args *args);

#endif
