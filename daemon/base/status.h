/*
 * base/status.h - how anything in the daemon says that it failed.
 *
 * A function that can fail returns enum status and takes a struct err last.  ST_OK is 0.  The
 * struct is the caller's, on the stack; reporting an error never allocates.  err may be NULL where
 * the caller does not care for the words.  Outputs (ret_…) are untouched on failure.
 *
 * The status says what kind of failure it is: it decides the HTTP code, the mail result word and
 * the log level, by the one table in status.c, so the doors cannot disagree.  The reason says
 * which one it is: a stable word that programs may compare ("state_mismatch"), that the catalogue
 * of texts has a sentence for in each language, and that the API puts into problem types.  The
 * text is the English sentence with the particulars; it is for the log and the command line.
 *
 * What a person may be told beyond the reason's title has a code of the catalogue ("refusal.…")
 * and named values, from which words/ makes the sentence in the reader's language: err_detail()
 * and ERR_DETAIL().  Of a failure without such a code people are told its title and, at most, a
 * general sentence for its kind.
 *
 * Threads: any; no state.
 */
#ifndef FH_BASE_STATUS_H
#define FH_BASE_STATUS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MUST_CHECK
#define PRINTF_LIKE(fmt, args)
#endif

enum status {
    ST_OK = 0,
    ST_INVALID,         /* the request is not well-formed: 400 */
    ST_UNAUTHENTICATED, /* who are you? 401 */
    ST_FORBIDDEN,       /* you may not: 403 */
    ST_NOT_FOUND,       /* no such thing, or not for you: 404 */
    ST_NOT_ALLOWED,     /* no such method here: 405 */
    ST_SLOW,            /* the request did not come in time: 408 */
    ST_CONFLICT,        /* well-formed, but things have moved on: 409 */
    ST_GONE,            /* it was here once: 410 */
    ST_TOO_LARGE,       /* over a named limit: 413 */
    ST_MEDIA,           /* a content type that is not read here: 415 */
    ST_ILLEGAL,         /* understood, and against the rules: 422 */
    ST_RATE,            /* too often: 429 */
    ST_BUSY,            /* not now; try again: 503 */
    ST_IO,              /* disk or network failed: 503 */
    ST_NOMEM,           /* memory ran out: 503 */
    ST_CORRUPT,         /* stored data contradicts itself: 500 */
    ST_INTERNAL,        /* our bug: 500 */
    ST_COUNT_
};

/* X(name, slug, status, Xfcc-like result word for mail and Xfcc clients, English title) */
#define REASON_LIST(X)                                                                             \
    X(NONE, "none", ST_INTERNAL, "ServerError", "Something went wrong")                            \
    X(BAD_REQUEST, "bad_request", ST_INVALID, "BadRequest", "The request is not well-formed")      \
    X(BAD_JSON, "bad_json", ST_INVALID, "BadRequest", "The body is not valid JSON")                \
    X(BAD_FIELD, "bad_field", ST_INVALID, "BadRequest", "A field has a value that cannot be used") \
    X(UNKNOWN_FIELD, "unknown_field", ST_INVALID, "BadRequest", "A field is not known here")       \
    X(MISSING_FIELD, "missing_field", ST_INVALID, "BadRequest", "A field is missing")              \
    X(BAD_CURSOR, "bad_cursor", ST_INVALID, "BadRequest", "The page cursor is not ours")           \
    X(LOGIN_NEEDED, "login_needed", ST_UNAUTHENTICATED, "AuthenticationFailed",                    \
      "Logging in is needed")                                                                      \
    X(BAD_CREDENTIALS, "bad_credentials", ST_UNAUTHENTICATED, "AuthenticationFailed",              \
      "The credentials are not valid")                                                             \
    X(LINK_EXPIRED, "link_expired", ST_GONE, "AuthenticationFailed",                               \
      "This link has been used or has expired")                                                    \
    X(SCOPE_NEEDED, "scope_needed", ST_FORBIDDEN, "AuthenticationFailed",                          \
      "The token lacks the scope for this")                                                        \
    X(CROSS_SITE, "cross_site", ST_FORBIDDEN, "AuthenticationFailed",                              \
      "The request came from another site")                                                        \
    X(FORBIDDEN, "forbidden", ST_FORBIDDEN, "AuthenticationFailed", "You may not do this")         \
    X(NOT_FOUND, "not_found", ST_NOT_FOUND, "InvalidGameID", "There is no such thing")             \
    X(NO_SUCH_GAME, "no_such_game", ST_NOT_FOUND, "InvalidGameID", "There is no such game")        \
    X(NO_SUCH_USER, "no_such_user", ST_NOT_FOUND, "InvalidUser", "There is no such player")        \
    X(UNKNOWN_ZONE, "unknown_zone", ST_INVALID, "BadRequest", "There is no such time zone")        \
    X(METHOD, "method_not_allowed", ST_NOT_ALLOWED, "BadRequest", "This method is not known here") \
    X(NOT_YOUR_GAME, "not_your_game", ST_FORBIDDEN, "NotYourGame",                                 \
      "This game, or this seat, is not yours")                                                     \
    X(NOT_YOUR_TURN, "not_your_turn", ST_CONFLICT, "NotYourTurn", "It is not your turn")           \
    X(STATE_MISMATCH, "state_mismatch", ST_CONFLICT, "InvalidMoveNumber", "The game has moved on") \
    X(MOVE_NUMBER, "move_number", ST_CONFLICT, "InvalidMoveNumber",                                \
      "Another move number comes now")                                                             \
    X(GAME_NOT_RUNNING, "game_not_running", ST_CONFLICT, "GameNotRunning",                         \
      "The game is not running")                                                                   \
    X(GAME_PAUSED, "game_paused", ST_CONFLICT, "GamePaused", "The game is paused")                 \
    X(GAME_FULL, "game_full", ST_CONFLICT, "GameFull", "No such seat is free")                     \
    X(GAME_STARTED, "game_started", ST_CONFLICT, "GameStarted", "The game has started already")    \
    X(SEAT_OUT, "seat_out", ST_CONFLICT, "SeatOut", "This seat is mated or has left the game")     \
    X(ALREADY_SEATED, "already_seated", ST_CONFLICT, "AlreadySeated",                           \
      "This player has a seat already")                                                            \
    X(ALREADY_DONE, "already_done", ST_CONFLICT, "AlreadyDone", "That has been done already")      \
    X(HANDLE_TAKEN, "handle_taken", ST_CONFLICT, "NameTaken", "This handle is taken")              \
    X(LOST_ON_TIME, "lost_on_time", ST_CONFLICT, "LostOnTime", "The time for this turn is over")   \
    X(NO_DRAW_OFFERED, "no_draw_offered", ST_CONFLICT, "NoDrawWasOffered", "No draw was offered")  \
    X(MOVE_HELD, "move_held", ST_CONFLICT, "MoveIsHeld", "A move of yours is being held")          \
    X(NOTHING_HELD, "nothing_held", ST_CONFLICT, "NothingToUndo",                                  \
      "There is nothing to take back")                                                             \
    X(NO_CLAIM, "no_claim", ST_ILLEGAL, "NoDrawToClaim", "There is no draw to claim")              \
    X(ILLEGAL_MOVE, "illegal_move", ST_ILLEGAL, "InvalidMove", "The move is not legal")            \
    X(AMBIGUOUS_MOVE, "ambiguous_move", ST_ILLEGAL, "MoveIsAmbiguous",                             \
      "The move can mean more than one")                                                           \
    X(UNREADABLE_MOVE, "unreadable_move", ST_ILLEGAL, "InvalidMove", "The move cannot be read")    \
    X(BAD_PLACEMENT, "bad_placement", ST_ILLEGAL, "InvalidMove", "The reserve cannot stand so")    \
    X(KEY_REUSED, "idempotency_key_reused", ST_ILLEGAL, "BadRequest",                              \
      "The Idempotency-Key was used with another request")                                         \
    X(REGISTRATION_CLOSED, "registration_closed", ST_FORBIDDEN, "AuthenticationFailed",            \
      "Registration is closed")                                                                    \
    X(INVITE_NEEDED, "invite_needed", ST_FORBIDDEN, "AuthenticationFailed",                        \
      "Registration needs an invitation")                                                          \
    X(BLOCKED_ADDRESS, "blocked_address", ST_ILLEGAL, "BadRequest",                                \
      "That address cannot be used for webhooks")                                                  \
    X(WEBHOOK_OFF, "webhook_off", ST_CONFLICT, "BadRequest", "The webhook is off")                 \
    X(LIMIT, "limit_reached", ST_ILLEGAL, "LimitReached", "A limit has been reached")              \
    X(TOO_LARGE, "too_large", ST_TOO_LARGE, "TooLarge", "That is larger than is read here")        \
    X(MEDIA_TYPE, "media_type", ST_MEDIA, "BadRequest", "This content type is not read here")      \
    X(TOO_SLOW, "request_timeout", ST_SLOW, "BadRequest", "The request came too slowly")           \
    X(RATE_LIMIT, "rate_limited", ST_RATE, "TooManyRequests", "Too many requests")                 \
    X(BUSY, "busy", ST_BUSY, "ServerError", "The server is busy; try again")                       \
    X(STORE_FAILED, "store_failed", ST_IO, "ServerError", "The change could not be stored")        \
    X(NO_MEMORY, "no_memory", ST_NOMEM, "ServerError", "The server ran out of memory")             \
    X(CORRUPT, "corrupt", ST_CORRUPT, "ServerError", "Stored data contradicts itself")             \
    X(INTERNAL, "internal", ST_INTERNAL, "ServerError", "Something went wrong on our side")

enum reason {
#define X(name, slug, status, word, title) REASON_##name,
    REASON_LIST(X)
#undef X
    REASON_COUNT_
};

/* A value in a refusal's sentence.  How a seat, a length or an instant is written depends on the
 * language. */
enum err_arg_kind {
    ERR_ARG_TEXT,
    ERR_ARG_NUMBER,
    ERR_ARG_SEAT,   /* 0…3: South, West, North, East */
    ERR_ARG_LENGTH, /* milliseconds */
    ERR_ARG_INSTANT /* utc_ms */
};
struct err_arg {
    const char *name; /* a constant: as the sentence has it in {} */
    enum err_arg_kind kind;
    int64_t number;
    const char *text; /* ERR_ARG_TEXT; cut where it does not fit */
};
#define ERR_TEXT(key, value) {.name = (key), .kind = ERR_ARG_TEXT, .text = (value)}
#define ERR_NUMBER(key, value) {.name = (key), .kind = ERR_ARG_NUMBER, .number = (int64_t)(value)}
#define ERR_SEAT(key, value) {.name = (key), .kind = ERR_ARG_SEAT, .number = (value)}
#define ERR_LENGTH(key, value) {.name = (key), .kind = ERR_ARG_LENGTH, .number = (value)}
#define ERR_INSTANT(key, value) {.name = (key), .kind = ERR_ARG_INSTANT, .number = (value)}

enum { ERR_ARGS_MAX = 4, ERR_VALUES_SIZE = 256, ERR_FIELD_SIZE = 64 };

struct err {
    enum status code;
    enum reason reason;  /* REASON_NONE when only the status was given */
    char text[256];      /* one English sentence without a final dot */
    const char *detail;  /* the same as a code of the catalogue; NULL: there is none */
    char field[ERR_FIELD_SIZE]; /* which part of what was asked is at fault: "/seats/west"; "" */
    size_t n_args;
    struct err_value {
        const char *name;
        enum err_arg_kind kind;
        int64_t number;
        size_t at;       /* ERR_ARG_TEXT: where in values it begins */
    } args[ERR_ARGS_MAX];
    char values[ERR_VALUES_SIZE];
};
#define ERR_INIT ((struct err){.code = ST_OK})

/* Fill *err (NULL is allowed) with a status and a sentence; returns the status. */
enum status err_set(struct err *err, enum status code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same with a reason, whose status it takes and returns. */
enum status err_reason(struct err *err, enum reason reason, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* The same with a sentence of the catalogue: its code, a constant, and its English text, in which
 * {name} is replaced by the value of that name; tests/words/check_refusals.py holds the text to
 * the catalogue's.  Values must not point into *err. */
enum status err_detail(struct err *err, enum reason reason, const char *code, const char *english);
enum status err_detail_with(struct err *err, enum reason reason, const char *code,
                            const char *english, const struct err_arg *args, size_t n);
/* ERR_DETAIL(err, REASON_GAME_FULL, "refusal.seat_not_free", "the seat {seat} is not free",
 *            ERR_SEAT("seat", seat)) */
#define ERR_DETAIL(err, reason, code, english, ...)                                                \
    err_detail_with((err), (reason), (code), (english), (const struct err_arg[]){__VA_ARGS__},     \
                    sizeof((const struct err_arg[]){__VA_ARGS__}) / sizeof(struct err_arg))

/* Return at the first failure: for functions that hold nothing to be released. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_st_ = (call);                                                              \
        if (try_st_ != ST_OK)                                                                      \
            return try_st_;                                                                        \
    } while (0)
/* The same for those that hold something: it stays in `st`, and they go to their exit at `out`. */
#define TRY_OUT(call)                                                                              \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != ST_OK)                                                                           \
            goto out;                                                                              \
    } while (0)

/* Say which field is at fault; the text gets "field: " before it.  err may be NULL. */
void err_in_field(struct err *err, const char *field);

/* Put "context: " before the sentence that is there already.  err may be NULL. */
void err_prefix(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "ok", "invalid", …: a stable lower-case word. */
const char *status_str(enum status st);
/* 200 for ST_OK, else 400…503. */
int status_http(enum status st);
/* Whether the operator should hear of it (log level warning or worse). */
int status_is_fault(enum status st);

/* "not_your_turn": stable, for programs. */
const char *reason_slug(enum reason reason);
/* "NotYourTurn": the word that mails and Xfcc clients see. */
const char *reason_word(enum reason reason);
/* "It is not your turn": English title. */
const char *reason_title(enum reason reason);
enum status reason_status(enum reason reason);

#endif
