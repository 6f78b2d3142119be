/*
 * rules/pgn4.h - whole games as PGN4, the text that four-player chess programs exchange.
 *
 * Purpose
 *   Writes games of every variant so that reading them back gives the same game to the last
 *   field, and reads what other programs wrote of team games on the 160 squares, or refuses it
 *   with line and column.  docs/formats.md tells the form and what maps to what.
 *
 * Writing
 *   pgn4_writer_start(), pgn4_write_tag()…, pgn4_write_position(), then for each thing that
 *   happened pgn4_write_move() or pgn4_write_leave(), with pgn4_write_comment() between them, and
 *   pgn4_write_end().  The bytes go to a function of the caller's, piece by piece.
 *   The result stands in the Result tag, which comes first: the caller gives it at the start.
 *
 * Reading
 *   pgn4_reader_start(), pgn4_read() with the next bytes as often as there are some (cut
 *   anywhere), pgn4_read_end().  What is found is told to a struct of functions of the caller's.
 *   One text may hold several games.  Memory is the struct pgn4_reader alone: a tag value, a
 *   token or a comment longer than its limit is refused, a game may be of any length.
 *
 * Ownership: every struct is the caller's; strings given to the functions of the caller's live
 * until they return.  Threads: one at a time for one writer or reader.  Time: not read.
 */
#ifndef RULES_PGN4_H
#define RULES_PGN4_H

#include "rules/fen4.h"
#include "rules/notation.h"

/* ---------------------------------------------------------------- writing */

/* Takes n bytes; false stops the writing (pgn4_writer_ok() is false from then on). */
typedef bool pgn4_sink(void *arg, const char *bytes, size_t n);

/* How the game ended, for the tags. */
struct pgn4_ending {
    enum result result;    /* RESULT_NONE: still running, or aborted */
    enum cause cause;      /* CAUSE_NONE: not by a rule (adjudicated, aborted, not over) */
    bool is_aborted;
    const char *termination; /* what to say in the Termination tag; NULL: made from the above */
};

struct pgn4_writer {
    pgn4_sink *sink;
    void *arg;
    struct pgn4_ending ending;
    struct position pos;     /* after what was written so far */
    enum seat first;         /* with whom a round begins */
    uint32_t round;          /* 0: before the first token */
    unsigned last;           /* how far from `first` the last token of this round was */
    bool is_ok, needs_space;
};

/* Begins a game. */
void pgn4_writer_start(struct pgn4_writer *writer, pgn4_sink *sink, void *arg,
                       const struct pgn4_ending *ending);
/* A tag of the caller's: Red, Blue, Yellow, Green (the players on South, West, North, East),
 * Site, Date, TimeControl, GameNr…  A `"` in value is written as `'`, control characters as
 * blanks.  Variant, RuleVariants, StartFen4, Result, Termination and the Fourhanded… tags are
 * written by this library itself. */
void pgn4_write_tag(struct pgn4_writer *writer, const char *name, const char *value);
/* The position the game starts from; ends the tags. */
void pgn4_write_position(struct pgn4_writer *writer, const struct position *start);
/* The next move; false, with nothing written, when it is not legal. */
bool pgn4_write_move(struct pgn4_writer *writer, struct move move);
/* A seat leaves: on its turn a token (R or T), off it a remark in a comment.  False, with nothing
 * written, when position_leave() refuses it. */
bool pgn4_write_leave(struct pgn4_writer *writer, enum seat seat, enum leave_how how);
/* A comment about what was written last.  `}` is written as `)`. */
void pgn4_write_comment(struct pgn4_writer *writer, const char *text);
/* The result and a line end.  Returns pgn4_writer_ok(). */
bool pgn4_write_end(struct pgn4_writer *writer);
static inline bool pgn4_writer_ok(const struct pgn4_writer *writer)
{
    return writer->is_ok;
}

/* ---------------------------------------------------------------- reading */

enum {
    PGN4_TAG_NAME_MAX = 64,
    PGN4_TAG_VALUE_MAX = 2048,
    PGN4_COMMENT_MAX = 4096,
    PGN4_TOKEN_MAX = 40,
    PGN4_NESTING_MAX = 32 /* variations in variations */
};

enum pgn4_verdict {
    PGN4_OK,
    PGN4_STOPPED,          /* a function of the caller's said false */
    PGN4_EMPTY,            /* no game in the text */
    PGN4_BAD_CHARACTER,    /* a NUL or another control character */
    PGN4_BAD_TAG,          /* not [Name "value"] */
    PGN4_TAG_TWICE,        /* a tag that matters, given twice */
    PGN4_TOO_LONG,         /* a tag, token or comment over its limit */
    PGN4_ENDS_EARLY,       /* the text ends inside a tag, comment or variation */
    PGN4_NO_VARIANT,       /* neither Variant nor FourhandedVariant */
    PGN4_OTHER_VARIANT,    /* a game that is not played here */
    PGN4_OTHER_RULES,      /* a word of RuleVariants that changes the game */
    PGN4_BAD_HOUSE_RULES,  /* FourhandedVariant: see `variant` */
    PGN4_BAD_POSITION,     /* FourhandedPosition: see `position` */
    PGN4_BAD_FEN4,         /* StartFen4: see `fen4` */
    PGN4_BAD_RESULT,       /* Result or FourhandedResult */
    PGN4_NO_START,         /* fortress without its position and not reserve=usual */
    PGN4_BAD_TOKEN,        /* nothing that can stand among the moves */
    PGN4_BAD_ROUND,        /* a round number that is no number */
    PGN4_BAD_MOVE,         /* see `reading` */
    PGN4_BAD_LEAVE,        /* R, T or a remark that cannot be */
    PGN4_BAD_MARK,         /* `#` or `S` where nobody is mated or passes */
    PGN4_AFTER_END,        /* a move after the end of the game */
    PGN4_NESTED_TOO_DEEP,
    PGN4_UNMATCHED,        /* `)` or `}` without its beginning */
    PGN4_RESULT_DIFFERS    /* the moves end otherwise than Result says */
};
const char *pgn4_verdict_str(enum pgn4_verdict verdict);

struct pgn4_error {
    enum pgn4_verdict code;
    int line, column;             /* from 1: where the tag's value, token or comment begins, or
                                   * inside a value the place itself */
    int game;                     /* from 1 */
    char word[PGN4_TOKEN_MAX + 1];/* the token, tag name or rule word, cut to fit */
    char text[400];               /* one English sentence without the place and a full stop */
};
/* "line 12, column 5: …" */
enum { PGN4_SENTENCE_MAX = 480 };
size_t pgn4_error_sentence(const struct pgn4_error *error, char *text, size_t size);

/* How a game that was read ended. */
struct pgn4_result {
    enum result result;   /* by the board, else as Result says */
    enum cause cause;     /* by the board, else as FourhandedResult says, else CAUSE_NONE */
    bool is_on_board;     /* the moves themselves end the game so */
    bool is_aborted;
    const char *termination; /* the tag's value, "" without one */
};

/* Every function may be NULL.  All return whether to go on. */
struct pgn4_handler {
    bool (*tag)(void *arg, const char *name, const char *value); /* every tag, in its order */
    bool (*start)(void *arg, const struct position *start);      /* all tags are read */
    bool (*move)(void *arg, const struct position *before, struct move move,
                 const struct outcome *outcome, const struct position *after);
    bool (*leave)(void *arg, enum seat seat, enum leave_how how, const struct outcome *outcome,
                  const struct position *after);
    bool (*comment)(void *arg, const char *text); /* about what came before; blanks trimmed */
    bool (*end)(void *arg, const struct pgn4_result *result, const struct position *last);
    void *arg;
};

struct pgn4_place {
    int line, column;
};

enum { PGN4_TAGS = 8 }; /* tags that matter, see pgn4.c */

struct pgn4_reader {
    struct pgn4_handler handler;
    struct pgn4_error error;
    /* the text */
    int state;               /* enum state of pgn4.c */
    struct pgn4_place here;  /* of the next byte */
    struct pgn4_place at;    /* where the token, tag or comment in hand began */
    struct pgn4_place open_at[PGN4_NESTING_MAX]; /* of the variations open */
    int depth, games;
    unsigned line_ends;      /* since the last thing that is not blank */
    size_t bytes;
    /* what the tags said */
    unsigned tags;           /* bit: which of those that matter are there */
    bool has_tags;
    struct pgn4_place tag_at[PGN4_TAGS]; /* where its value begins */
    char variant[64], rules[256], fen4[PGN4_TAG_VALUE_MAX + 1];
    char house[VARIANT_TEXT_MAX], native[POSITION_TEXT_MAX + 1];
    char result[32], cause[32], termination[256];
    /* the game */
    bool is_started, is_ended;
    enum result said;        /* by a result among the moves, if is_ended */
    struct position pos;
    uint8_t marks[16];       /* seat, + 8 if it was passed, not mated: for `#` and `S` tokens */
    int mark_count;
    /* the token in hand */
    size_t length, name_length;
    char name[PGN4_TAG_NAME_MAX + 1];
    char text[PGN4_COMMENT_MAX + 1];
};

void pgn4_reader_start(struct pgn4_reader *reader, const struct pgn4_handler *handler);
/* PGN4_OK, or what is wrong; then reader->error has the particulars and nothing more is read. */
enum pgn4_verdict pgn4_read(struct pgn4_reader *reader, const char *bytes, size_t n);
/* No more bytes come. */
enum pgn4_verdict pgn4_read_end(struct pgn4_reader *reader);

#endif
