/*
 * intake/grammar.h - what a player may write in a letter: lines in, commands out.
 *
 * Purpose
 *   The grammar of docs/mail.md as one pure function.  It knows the shape of a line and nothing of
 *   any game: whether a move is legal, a seat free or a name known is asked by whoever runs the
 *   commands.  It never guesses: a line that is no command refuses the letter, unless it is plainly
 *   prose below the commands.
 *
 * How lines are taken
 *   1. Empty lines at the beginning are passed over.  A line of marks alone, with no letter and no
 *      digit ("--", "."), is an empty one too, but `?`, which asks for help, and "=", which is a
 *      draw elsewhere.
 *   2. From the first line on each must be a command, until an empty line or `end`.  Anything else
 *      – a greeting, a mistyped word – is an error that names the line.
 *   3. After `end` nothing is read.
 *   4. After an empty line comes a paragraph.  If each of its lines is a command it is read like
 *      the first (mail programs like to double the ends of lines).  If its first line is a command
 *      that changes something and another line is none, that is an error: half a paragraph is not
 *      obeyed.  Any other paragraph is prose; it and all after it are left unread.  A letter alone
 *      (`c`, `l` …) is a command in the first paragraph only: below it, it is a signature.
 *   5. A note of NOTE_WRAP bytes or more may have been wrapped: it goes on over the lines up to
 *      the next empty one; should one of these be a command itself, that is an error.
 *   Only the first GRAMMAR_COMMANDS_MAX commands are taken; one more is an error.
 *
 * Case does not matter, but in moves, which rules/notation.h reads.  Blanks at both ends and more
 * than one between words do not matter, nor one full stop or exclamation mark at the end, nor a
 * question mark behind a question ("why?"; "resign?" is no command), nor one pair of quotation
 * marks or stars around the line, nor a comma behind an argument.
 *
 * Ownership: texts in commands are copies.  Threads: any; no state.  Nothing is allocated.
 */
#ifndef FH_INTAKE_GRAMMAR_H
#define FH_INTAKE_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GRAMMAR_COMMANDS_MAX = 16,
    GRAMMAR_LINES_MAX = 200,   /* of the reply area; one more is an error */
    GRAMMAR_TEXT_SIZE = 2001,  /* a note */
    GRAMMAR_WORD_SIZE = 256,   /* any other argument: address, handle, rules */
    GRAMMAR_MOVE_SIZE = 65,    /* a move as written: rules/notation.h's MOVE_READ_MAX */
    GRAMMAR_SHOWN_SIZE = 81,   /* of an offending line, cut */
    NOTE_WRAP = 55
};

/* X(name, word, acts): acts says that it changes a game, an invitation or a letter held. */
#define COMMAND_LIST(X)                                                                            \
    X(MOVE, "move", true)           /* text: as written; number: "12." before it, or 0 */          \
    X(RESIGN, "resign", true)       /* seat; -1: his only one */                                   \
    X(DRAW_OFFER, "draw offer", true)                                                              \
    X(DRAW_ACCEPT, "draw accept", true)                                                            \
    X(DRAW_DECLINE, "draw decline", true)                                                          \
    X(CLAIM_DRAW, "claim draw", true)                                                              \
    X(UNDO, "undo", true)           /* seat; -1: what was held last */                             \
    X(PLACE, "place", true)         /* squares[]: rook, bishop, knight */                          \
    X(ACCEPT, "accept", true)       /* what the letter was about */                                \
    X(DECLINE, "decline", true)                                                                    \
    X(CONFIRM, "confirm", true)     /* the letter that is held */                                  \
    X(CREATE, "create", true)       /* text: variant and house rules; create */                    \
    X(SEAT, "seat", true)           /* seat; offer; text: handle or address */                     \
    X(JOIN, "join", true)           /* text: a game's id; seat; -1: any */                         \
    X(LEAVE, "leave", true)         /* text: a game's id, or ""; seat; -1: all his */              \
    X(NOTE, "note", false)          /* text "": list them; else it stands in grammar.note */       \
    X(BOARD, "board", false)        /* text: a game's id, or "" */                                 \
    X(MOVES, "moves", false)        /* square or -1 */                                             \
    X(STATUS, "status", false)      /* text: a game's id, or "" */                                 \
    X(GAMES, "games", false)                                                                       \
    X(WHY, "why", false)                                                                           \
    X(SPOKEN, "spoken", false)                                                                     \
    X(CLOCKS, "clocks", false)      /* U2: c */                                                    \
    X(LAST, "last", false)          /* l */                                                        \
    X(OPPONENTS, "opponents", false)/* o */                                                        \
    X(PIECES, "pieces", false)      /* p; text: colour, its letter or a seat, or "" */             \
    X(SQUARE, "square", false)      /* s; square, or text: a file's letter or a rank's number */   \
    X(RESEND, "resend", false)                                                                     \
    X(HELP, "help", false)          /* text: about which command, or "" */

enum command_kind {
#define X(name, word, acts) COMMAND_##name,
    COMMAND_LIST(X)
#undef X
    COMMAND_COUNT_
};
const char *command_word(enum command_kind kind); /* "draw offer" */
bool command_acts(enum command_kind kind);
/* The kind of a word, also of its first word and short forms ("draw", "c"); false for none. */
bool command_find(const char *word, enum command_kind *ret_kind);
/* The command's first word that this one is a slip of, or stands for in another language; NULL. */
const char *command_near(const char *word);

/* 0: "south" … 3: "east". */
const char *command_seat(int seat);

enum seat_offer { SEAT_OFFER_ME, SEAT_OFFER_OPEN, SEAT_OFFER_HANDLE, SEAT_OFFER_ADDRESS };

struct command {
    enum command_kind kind;
    int line;                         /* in the letter's text, from 1 */
    char shown[GRAMMAR_SHOWN_SIZE];   /* the line as written, for the answer */
    char text[GRAMMAR_WORD_SIZE];     /* see COMMAND_LIST */
    int number;                       /* MOVE: the number before it; 0: none */
    int square;                       /* as rules/: rank index * 16 + file index; -1: none */
    int squares[3];                   /* PLACE: rook, bishop, knight */
    int seat;                         /* 0 south … 3 east; -1: not said */
    enum seat_offer offer;            /* SEAT */
    struct {
        int days;                     /* 0: not said; -1: said to be none, which is refused */
        bool is_private, is_rated, table_talk;
    } create;
};

/* Why a letter is refused before anything is run. */
#define GRAMMAR_FAULT_LIST(X)                                                                      \
    X(NONE, "none")                                                                                \
    X(EMPTY, "empty")               /* there is no line at all */                                  \
    X(UNKNOWN, "unknown_command")   /* no command; guess: a command it looks like, or "" */        \
    X(LOOKALIKE, "lookalike")       /* letters of another script that look Latin; guess */         \
    X(ARGUMENT, "bad_argument")     /* a command with what it cannot have: word, want, guess */    \
    X(MIXED, "mixed_paragraph")     /* rule 4: this line is none, the paragraph began with one */  \
    X(NOTE_WRAPPED, "note_wrapped") /* rule 5 */                                                   \
    X(TOO_MANY, "too_many_commands")                                                               \
    X(TOO_LONG, "too_long")         /* too many lines, or an argument too long */                  \
    X(NOT_ONE, "not_one_command")   /* grammar_read_between(): none or several */

enum grammar_fault {
#define X(name, slug) GRAMMAR_##name,
    GRAMMAR_FAULT_LIST(X)
#undef X
    GRAMMAR_FAULT_COUNT_
};
const char *grammar_fault_slug(enum grammar_fault fault);

/* ARGUMENT: what may stand where a word is wrong, or missing. */
#define GRAMMAR_WANT_LIST(X)                                                                       \
    X(NOTHING, "nothing")           /* the command is at its end */                                \
    X(SEAT, "seat")                                                                                \
    X(GAME, "game")                 /* a game's id */                                              \
    X(GAME_OR_SEAT, "game_or_seat")                                                                \
    X(SQUARE, "square")                                                                            \
    X(LINE, "line")                 /* a square, a rank or a file */                               \
    X(MAN, "man")                   /* of the reserve, once each */                                \
    X(VARIANT, "variant")                                                                          \
    X(OPTION, "option")             /* of a new game, or a house rule */                           \
    X(DAYS, "days")                                                                                \
    X(PLAYER, "player")                                                                            \
    X(DRAW, "draw")                 /* the word `draw` */                                          \
    X(DRAW_ACT, "draw_act")         /* what is done with one */                                    \
    X(COLOUR, "colour")

enum grammar_want {
#define X(name, slug) WANT_##name,
    GRAMMAR_WANT_LIST(X)
#undef X
    WANT_COUNT_
};
const char *grammar_want_slug(enum grammar_want want);

/* How a line was taken, for --dry-run. */
enum line_use { LINE_EMPTY, LINE_COMMAND, LINE_NOTE_GOES_ON, LINE_END, LINE_PROSE, LINE_FAULT };

struct grammar_line {
    const char *text; /* UTF-8, normalised (mail/reply.h), without its line end; borrowed */
    const char *raw;  /* as it was written: what a note keeps; NULL: text */
    int number;       /* in the letter's text, from 1 */
};

/* Large (some 16 KiB): on the heap or in a struct that is. */
struct grammar {
    enum grammar_fault fault;
    int fault_line;                     /* 0: of the letter as a whole */
    enum command_kind fault_command;    /* ARGUMENT */
    char fault_shown[GRAMMAR_SHOWN_SIZE];
    enum grammar_want fault_want;       /* … what may stand there */
    char fault_word[GRAMMAR_SHOWN_SIZE]; /* … the word that cannot; "": one is missing */
    char guess[GRAMMAR_SHOWN_SIZE];     /* UNKNOWN, LOOKALIKE, ARGUMENT: perhaps meant; "" */
    int unread_from;                    /* line where prose began; 0: none */
    size_t n;                           /* 0 when there is a fault */
    struct command commands[GRAMMAR_COMMANDS_MAX];
    size_t note_len;
    char note[GRAMMAR_TEXT_SIZE];       /* of the one note with a text; a second is a fault */
    size_t n_uses;
    unsigned char uses[GRAMMAR_LINES_MAX]; /* enum line_use, a line each */
};

/* Fills *ret whatever comes of it; returns ret->fault. */
enum grammar_fault grammar_read(const struct grammar_line *lines, size_t n, struct grammar *ret);

/* P10: the lines that stand between or below quotes, when there is nothing above.  Exactly one of
 * them must be a command, and no single letter; the others are prose. */
enum grammar_fault grammar_read_between(const struct grammar_line *lines, size_t n,
                                        struct grammar *ret);

/* What may be wrong with a line that is no command or cannot be read: for a hint. */
enum grammar_hint {
    HINT_NONE,
    HINT_SQUARE, /* a square that no board has: "z9-e4", "s q17" */
    HINT_LETTER, /* another language's letter for a piece: "Sf3" */
    HINT_HALF    /* where from alone: "e2-" */
};
enum grammar_hint grammar_hint_of(const char *text);

/* Whether a line is a command that changes something: for lines that are not read as any. */
bool grammar_would_act(const char *text);

/* Whether a line is a move by its shape: what the reader of moves is to judge. */
bool grammar_is_move(const char *text);

#endif
