/*
 * main/tool_record.h - one game, from whatever form, on its way to another (`rules convert`;
 * internal to main).
 *
 * Calling sequence: tool_convert.c fills a record from FEN4 or PGN4, or has record_read_native()
 * read our own text, calls record_write(), which prints it in the form r->to, and record_clear()
 * before the next one.
 *
 * Ownership: what a record holds is its maker's, who releases tags and text and frees item.
 * Threads: the main thread.
 */
#ifndef FH_MAIN_TOOL_RECORD_H
#define FH_MAIN_TOOL_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "main/tool.h"
#include "rules/fen4.h"
#include "rules/pgn4.h"
#include "rules/rules.h"

enum {
    GAME_ITEMS_MAX = 100000, /* moves, leavings and comments of one game */
    GAME_TEXT_MAX = 8 << 20  /* bytes of its tags, and of its comments */
};

enum form { FORM_NATIVE, FORM_FEN4, FORM_PGN4, FORMS };

enum item_type { ITEM_MOVE, ITEM_LEAVE, ITEM_COMMENT };
struct item {
    enum item_type type;
    struct move move;
    enum seat seat;
    enum leave_how how;
    size_t text; /* ITEM_COMMENT: where in `text` */
};

struct record {
    struct tool_args *args;
    enum form to;
    enum fen4_corners corners;
    struct position start, last;
    struct item *item;
    size_t items, room;
    struct buf tags; /* name NUL value NUL … */
    struct buf text; /* comments, each ended by NUL */
    struct pgn4_ending ending;
    char termination[256];
    bool has_failed; /* a limit or memory */
};

/* Empty for the next game; what has been set up for all of them stays. */
void record_clear(struct record *r);
/* false, and has_failed, when there are too many or memory is out. */
bool record_add(struct record *r, struct item item);
/* "POSITION", or "POSITION | MOVE MOVE … -> RESULT CAUSE"; otherwise sentence says why not. */
bool record_read_native(struct record *r, char *line, char sentence[SENTENCE_MAX]);
/* Prints it in the form r->to, or refuses. */
void record_write(struct record *r);

#endif
