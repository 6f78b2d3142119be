/*
 * store/kinds.h - the enumerations that are stored, and their words.
 *
 * Each list below is one CHECK of schema/; the words are what is stored, what the API says, and
 * what programs may compare.  tests/store compares lists and CHECKs.  For every list L there are
 *
 *     enum l { L_FIRST, …, L_COUNT_ }
 *     const char *l_str(enum l)                     its word; "?" for a value out of range
 *     bool l_parse(const char *word, enum l *ret)   false, *ret untouched, for anything else
 *
 * Threads: any; no state.
 */
#ifndef FH_STORE_KINDS_H
#define FH_STORE_KINDS_H

#include <stdbool.h>

/* open -> placing -> running -> finished; aborted from the first three (games.state) */
#define GAME_STATE_LIST(X)                                                                         \
    X(GAME_OPEN, "open")                                                                           \
    X(GAME_PLACING, "placing")                                                                     \
    X(GAME_RUNNING, "running")                                                                     \
    X(GAME_FINISHED, "finished")                                                                   \
    X(GAME_ABORTED, "aborted")

#define GAME_VARIANT_LIST(X)                                                                       \
    X(GAME_VERNEY, "verney")                                                                       \
    X(GAME_FORTRESS, "fortress")                                                                   \
    X(GAME_TEAMS, "teams")

#define GAME_RESERVE_LIST(X)                                                                       \
    X(GAME_RESERVE_NONE, "none")                                                                   \
    X(GAME_RESERVE_RANDOM, "random")                                                               \
    X(GAME_RESERVE_CHOSEN, "chosen")                                                               \
    X(GAME_RESERVE_USUAL, "usual")

#define GAME_VISIBILITY_LIST(X)                                                                    \
    X(GAME_PUBLIC, "public")                                                                       \
    X(GAME_PLAYERS_ONLY, "players")

/* bank is kept free for banked time: nothing makes such a game yet */
#define GAME_CLOCK_LIST(X)                                                                         \
    X(GAME_CLOCK_PER_MOVE, "per_move")                                                             \
    X(GAME_CLOCK_BANK, "bank")

#define GAME_RESULT_LIST(X)                                                                        \
    X(GAME_RESULT_NONE, "none")                                                                    \
    X(GAME_RESULT_TEAM0, "team0")                                                                  \
    X(GAME_RESULT_TEAM1, "team1")                                                                  \
    X(GAME_RESULT_DRAW, "draw")

/* the first nine are rules/'s causes in its order and words; aborted games have organiser,
 * operator or expired (never full in time) */
#define GAME_CAUSE_LIST(X)                                                                         \
    X(GAME_CAUSE_NONE, "none")                                                                     \
    X(GAME_CAUSE_MATE, "mate")                                                                     \
    X(GAME_CAUSE_LEAVING, "leaving")                                                               \
    X(GAME_CAUSE_STALEMATE, "stalemate")                                                           \
    X(GAME_CAUSE_THREEFOLD, "threefold")                                                           \
    X(GAME_CAUSE_FIVEFOLD, "fivefold")                                                             \
    X(GAME_CAUSE_FIFTY_ROUNDS, "fifty_rounds")                                                     \
    X(GAME_CAUSE_SEVENTY_FIVE_ROUNDS, "seventy_five_rounds")                                       \
    X(GAME_CAUSE_AGREEMENT, "agreement")                                                           \
    X(GAME_CAUSE_ADJUDICATION, "adjudication")                                                     \
    X(GAME_CAUSE_ORGANISER, "organiser")                                                           \
    X(GAME_CAUSE_OPERATOR, "operator")                                                             \
    X(GAME_CAUSE_EXPIRED, "expired")

/* open: anyone may take it; invited: kept for one; vacant: nobody holds it while the game goes on
 * (kept free for substitutes) */
#define SEAT_STATE_LIST(X)                                                                         \
    X(SEAT_OPEN, "open")                                                                           \
    X(SEAT_INVITED, "invited")                                                                     \
    X(SEAT_TAKEN, "taken")                                                                         \
    X(SEAT_VACANT, "vacant")

/* seats.left_how is NULL for SEAT_STAYED */
#define SEAT_LEFT_LIST(X)                                                                          \
    X(SEAT_STAYED, "stayed")                                                                       \
    X(SEAT_RESIGNED, "resigned")                                                                   \
    X(SEAT_FORFEITED, "forfeited")

#define HOLDER_ROLE_LIST(X)                                                                        \
    X(HOLDER_PLAYER, "player")                                                                     \
    X(HOLDER_SUBSTITUTE, "substitute")

/* pending -> any of the others */
#define INVITATION_STATE_LIST(X)                                                                   \
    X(INVITATION_PENDING, "pending")                                                               \
    X(INVITATION_ACCEPTED, "accepted")                                                             \
    X(INVITATION_DECLINED, "declined")                                                             \
    X(INVITATION_EXPIRED, "expired")                                                               \
    X(INVITATION_WITHDRAWN, "withdrawn")

/* What each event's columns mean stands in store/events.h. */
#define GAME_EVENT_LIST(X)                                                                         \
    X(GAME_EVENT_CREATED, "created")                                                               \
    X(GAME_EVENT_INVITED, "invited")                                                               \
    X(GAME_EVENT_SEAT_TAKEN, "seat_taken")                                                         \
    X(GAME_EVENT_SEAT_LEFT, "seat_left")                                                           \
    X(GAME_EVENT_DECLINED, "declined")                                                             \
    X(GAME_EVENT_INVITE_EXPIRED, "invite_expired")                                                 \
    X(GAME_EVENT_INVITE_WITHDRAWN, "invite_withdrawn")                                             \
    X(GAME_EVENT_PLACING, "placing")                                                               \
    X(GAME_EVENT_PLACED, "placed")                                                                 \
    X(GAME_EVENT_STARTED, "started")                                                               \
    X(GAME_EVENT_MOVE, "move")                                                                     \
    X(GAME_EVENT_MATED, "mated")                                                                   \
    X(GAME_EVENT_RELEASED, "released")                                                             \
    X(GAME_EVENT_REMOVED, "removed")                                                               \
    X(GAME_EVENT_PASSED, "passed")                                                                 \
    X(GAME_EVENT_RESIGNED, "resigned")                                                             \
    X(GAME_EVENT_FORFEITED, "forfeited")                                                           \
    X(GAME_EVENT_TURN, "turn")                                                                     \
    X(GAME_EVENT_DRAW_OFFERED, "draw_offered")                                                     \
    X(GAME_EVENT_DRAW_ACCEPTED, "draw_accepted")                                                   \
    X(GAME_EVENT_DRAW_DECLINED, "draw_declined")                                                   \
    X(GAME_EVENT_DRAW_LAPSED, "draw_lapsed")                                                       \
    X(GAME_EVENT_DRAW_CLAIMED, "draw_claimed")                                                     \
    X(GAME_EVENT_FINISHED, "finished")                                                             \
    X(GAME_EVENT_ABORTED, "aborted")                                                               \
    X(GAME_EVENT_PAUSED, "paused")                                                                 \
    X(GAME_EVENT_RESUMED, "resumed")                                                               \
    X(GAME_EVENT_CREDITED, "credited")                                                             \
    X(GAME_EVENT_OUTAGE_CREDITED, "outage_credited")                                               \
    X(GAME_EVENT_ADJUDICATED, "adjudicated")                                                       \
    X(GAME_EVENT_LATE, "late")                                                                     \
    X(GAME_EVENT_WARNING, "warning")                                                               \
    X(GAME_EVENT_DELIVERY_CREDITED, "delivery_credited")

/* only draws are asked so far */
#define VOTE_KIND_LIST(X)                                                                          \
    X(VOTE_DRAW, "draw")                                                                           \
    X(VOTE_TAKEBACK, "takeback")                                                                   \
    X(VOTE_EXTENSION, "extension")                                                                 \
    X(VOTE_ABORT, "abort")

/* open -> any of the others */
#define VOTE_STATE_LIST(X)                                                                         \
    X(VOTE_OPEN, "open")                                                                           \
    X(VOTE_ACCEPTED, "accepted")                                                                   \
    X(VOTE_DECLINED, "declined")                                                                   \
    X(VOTE_LAPSED, "lapsed")                                                                       \
    X(VOTE_WITHDRAWN, "withdrawn")

/* delivery: the turn's letter had not been handed over; held: a held move was dropped */
#define CLOCK_FACT_LIST(X)                                                                         \
    X(CLOCK_FACT_CREDIT, "credit")                                                                 \
    X(CLOCK_FACT_OUTAGE, "outage")                                                                 \
    X(CLOCK_FACT_PAUSE, "pause")                                                                   \
    X(CLOCK_FACT_DELIVERY, "delivery")                                                             \
    X(CLOCK_FACT_HELD, "held")

#define TIMER_KIND_LIST(X)                                                                         \
    X(TIMER_DEADLINE, "deadline")                                                                  \
    X(TIMER_WARNING, "warning")                                                                    \
    X(TIMER_ORGANISER, "organiser")                                                                \
    X(TIMER_PLACING, "placing")                                                                    \
    X(TIMER_INVITATION, "invitation")                                                              \
    X(TIMER_OPEN_GAME, "open_game")                                                                \
    X(TIMER_HOUSEKEEPING, "housekeeping")                                                          \
    X(TIMER_HELD, "held")

/* what is held of a letter */
#define HELD_KIND_LIST(X)                                                                          \
    X(HELD_MOVE, "move")                                                                           \
    X(HELD_RESIGN, "resign")

/* Classes of notices, as users switch them.  login and security cannot be switched off; leaving =
 * a seat resigned or was forfeited, mate = mated or released, organiser = abort, pause, resume,
 * credit; test = a webhook's ping; answer = what a letter of one's own is answered with, which
 * cannot be switched off and is never put for a webhook. */
#define NOTICE_CLASS_LIST(X)                                                                       \
    X(NOTICE_LOGIN, "login")                                                                       \
    X(NOTICE_SECURITY, "security")                                                                 \
    X(NOTICE_INVITATION, "invitation")                                                             \
    X(NOTICE_PLACING, "placing")                                                                   \
    X(NOTICE_START, "start")                                                                       \
    X(NOTICE_TURN, "turn")                                                                         \
    X(NOTICE_WARNING, "warning")                                                                   \
    X(NOTICE_DRAW, "draw")                                                                         \
    X(NOTICE_LEAVING, "leaving")                                                                   \
    X(NOTICE_MATE, "mate")                                                                         \
    X(NOTICE_RESULT, "result")                                                                     \
    X(NOTICE_ORGANISER, "organiser")                                                               \
    X(NOTICE_WEBHOOK_DISABLED, "webhook_disabled")                                                 \
    X(NOTICE_TEST, "test")                                                                         \
    X(NOTICE_ANSWER, "answer")

#define NOTICE_CHANNEL_LIST(X)                                                                     \
    X(CHANNEL_MAIL, "mail")                                                                        \
    X(CHANNEL_WEBHOOK, "webhook")

#define PREF_VIA_LIST(X)                                                                           \
    X(PREF_VIA_SETTINGS, "settings")                                                               \
    X(PREF_VIA_UNSUBSCRIBE, "unsubscribe")

/* queued -> leased -> sent | queued | failed | superseded | expired */
#define OUTBOX_STATE_LIST(X)                                                                       \
    X(OUTBOX_QUEUED, "queued")                                                                     \
    X(OUTBOX_LEASED, "leased")                                                                     \
    X(OUTBOX_SENT, "sent")                                                                         \
    X(OUTBOX_FAILED, "failed")                                                                     \
    X(OUTBOX_SUPERSEDED, "superseded")                                                             \
    X(OUTBOX_EXPIRED, "expired")

#define ATTEMPT_OUTCOME_LIST(X)                                                                    \
    X(ATTEMPT_SENT, "sent")                                                                        \
    X(ATTEMPT_RETRY, "retry")                                                                      \
    X(ATTEMPT_FAILED, "failed")

#define WEBHOOK_KIND_LIST(X)                                                                       \
    X(WEBHOOK_STANDARD, "standard")                                                                \
    X(WEBHOOK_SLACK, "slack")                                                                      \
    X(WEBHOOK_DISCORD, "discord")                                                                  \
    X(WEBHOOK_NTFY, "ntfy")                                                                        \
    X(WEBHOOK_MATRIX, "matrix")

/* off: by its owner; disabled: by the server */
#define WEBHOOK_STATE_LIST(X)                                                                      \
    X(WEBHOOK_ON, "on")                                                                            \
    X(WEBHOOK_OFF, "off")                                                                          \
    X(WEBHOOK_DISABLED, "disabled")

#define ADDRESS_STATE_LIST(X)                                                                      \
    X(ADDRESS_OK, "ok")                                                                            \
    X(ADDRESS_SUSPENDED, "suspended")

#define ADDRESS_CHANGE_LIST(X)                                                                     \
    X(ADDRESS_CHANGE_PENDING, "pending")                                                           \
    X(ADDRESS_CHANGE_DONE, "done")                                                                 \
    X(ADDRESS_CHANGE_CANCELLED, "cancelled")

#define LOGIN_METHOD_LIST(X)                                                                       \
    X(LOGIN_BY_LINK, "link")                                                                       \
    X(LOGIN_BY_PASSWORD, "password")                                                               \
    X(LOGIN_BY_REGISTRATION, "registration")

#define AUDIT_ROLE_LIST(X)                                                                         \
    X(AUDIT_ORGANISER, "organiser")                                                                \
    X(AUDIT_OPERATOR, "operator")                                                                  \
    X(AUDIT_ADMINISTRATOR, "administrator")

/* What an answer may do with it: move; answer a draw offer; place; answer an invitation; ask and
 * resign (any letter about a game); the same, and undo; release a letter that waits for its
 * owner's word; what concerns no game yet. */
#define TOKEN_PURPOSE_LIST(X)                                                                      \
    X(TOKEN_TURN, "turn")                                                                          \
    X(TOKEN_DRAW, "draw")                                                                          \
    X(TOKEN_PLACING, "placing")                                                                    \
    X(TOKEN_INVITATION, "invitation")                                                              \
    X(TOKEN_INFO, "info")                                                                          \
    X(TOKEN_RECEIPT, "receipt")                                                                    \
    X(TOKEN_CONFIRM, "confirm")                                                                    \
    X(TOKEN_ACCOUNT, "account")

#define INBOX_WAY_LIST(X)                                                                          \
    X(INBOX_BY_LMTP, "lmtp")                                                                       \
    X(INBOX_BY_COMMAND, "command")                                                                 \
    X(INBOX_BY_MAILDIR, "maildir")                                                                 \
    X(INBOX_BY_IMAP, "imap")

/* received -> claimed -> done | held | quarantined; held -> done */
#define INBOX_STATE_LIST(X)                                                                        \
    X(INBOX_RECEIVED, "received")                                                                  \
    X(INBOX_CLAIMED, "claimed")                                                                    \
    X(INBOX_HELD, "held")                                                                          \
    X(INBOX_DONE, "done")                                                                          \
    X(INBOX_QUARANTINED, "quarantined")

/* none: it waits; acted: a command was done; answered: it only asked; held: waits for the owner's
 * word; silent: over the limit of answers */
#define INBOX_VERDICT_LIST(X)                                                                      \
    X(INBOX_VERDICT_NONE, "none")                                                                  \
    X(INBOX_VERDICT_ACTED, "acted")                                                                \
    X(INBOX_VERDICT_ANSWERED, "answered")                                                          \
    X(INBOX_VERDICT_REFUSED, "refused")                                                            \
    X(INBOX_VERDICT_HELD, "held")                                                                  \
    X(INBOX_VERDICT_DUPLICATE, "duplicate")                                                        \
    X(INBOX_VERDICT_AUTOMATIC, "automatic")                                                        \
    X(INBOX_VERDICT_LOOP, "loop")                                                                  \
    X(INBOX_VERDICT_BOUNCE, "bounce")                                                              \
    X(INBOX_VERDICT_UNSUBSCRIBED, "unsubscribed")                                                  \
    X(INBOX_VERDICT_STRANGER, "stranger")                                                          \
    X(INBOX_VERDICT_SILENT, "silent")                                                              \
    X(INBOX_VERDICT_UNREADABLE, "unreadable")                                                      \
    X(INBOX_VERDICT_QUARANTINED, "quarantined")

/* Y(enum's name, its list, name of the count, table.column whose CHECK it is) */
#define STORE_ENUMS(Y)                                                                             \
    Y(game_state, GAME_STATE_LIST, GAME_STATE_COUNT_, "games.state")                               \
    Y(game_variant, GAME_VARIANT_LIST, GAME_VARIANT_COUNT_, "games.variant")                       \
    Y(game_reserve, GAME_RESERVE_LIST, GAME_RESERVE_COUNT_, "games.reserve")                       \
    Y(game_visibility, GAME_VISIBILITY_LIST, GAME_VISIBILITY_COUNT_, "games.visibility")           \
    Y(game_clock, GAME_CLOCK_LIST, GAME_CLOCK_COUNT_, "games.clock")                               \
    Y(game_result, GAME_RESULT_LIST, GAME_RESULT_COUNT_, "games.result")                           \
    Y(game_cause, GAME_CAUSE_LIST, GAME_CAUSE_COUNT_, "games.cause")                               \
    Y(seat_state, SEAT_STATE_LIST, SEAT_STATE_COUNT_, "seats.state")                               \
    Y(seat_left_how, SEAT_LEFT_LIST, SEAT_LEFT_COUNT_, "seats.left_how")                           \
    Y(holder_role, HOLDER_ROLE_LIST, HOLDER_ROLE_COUNT_, "seat_holders.role")                      \
    Y(invitation_state, INVITATION_STATE_LIST, INVITATION_STATE_COUNT_, "invitations.state")       \
    Y(game_event_kind, GAME_EVENT_LIST, GAME_EVENT_COUNT_, "game_events.kind")                     \
    Y(vote_kind, VOTE_KIND_LIST, VOTE_KIND_COUNT_, "votes.kind")                                   \
    Y(vote_state, VOTE_STATE_LIST, VOTE_STATE_COUNT_, "votes.state")                               \
    Y(clock_fact_kind, CLOCK_FACT_LIST, CLOCK_FACT_COUNT_, "clock_facts.kind")                     \
    Y(timer_kind, TIMER_KIND_LIST, TIMER_KIND_COUNT_, "timers.kind")                               \
    Y(held_kind, HELD_KIND_LIST, HELD_KIND_COUNT_, "held_moves.kind")                              \
    Y(notice_class, NOTICE_CLASS_LIST, NOTICE_CLASS_COUNT_, "outbox.class")                        \
    Y(notice_channel, NOTICE_CHANNEL_LIST, NOTICE_CHANNEL_COUNT_, "outbox.channel")                \
    Y(pref_via, PREF_VIA_LIST, PREF_VIA_COUNT_, "prefs.via")                                       \
    Y(outbox_state, OUTBOX_STATE_LIST, OUTBOX_STATE_COUNT_, "outbox.state")                        \
    Y(attempt_outcome, ATTEMPT_OUTCOME_LIST, ATTEMPT_OUTCOME_COUNT_, "outbox_attempts.outcome")    \
    Y(webhook_kind, WEBHOOK_KIND_LIST, WEBHOOK_KIND_COUNT_, "webhooks.kind")                       \
    Y(webhook_state, WEBHOOK_STATE_LIST, WEBHOOK_STATE_COUNT_, "webhooks.state")                   \
    Y(address_state, ADDRESS_STATE_LIST, ADDRESS_STATE_COUNT_, "users.address_state")              \
    Y(address_change_state, ADDRESS_CHANGE_LIST, ADDRESS_CHANGE_COUNT_, "address_changes.state")   \
    Y(login_method, LOGIN_METHOD_LIST, LOGIN_METHOD_COUNT_, "sessions.method")                     \
    Y(audit_role, AUDIT_ROLE_LIST, AUDIT_ROLE_COUNT_, "audit.role")                                \
    Y(token_purpose, TOKEN_PURPOSE_LIST, TOKEN_PURPOSE_COUNT_, "turn_tokens.purpose")              \
    Y(inbox_way, INBOX_WAY_LIST, INBOX_WAY_COUNT_, "inbox.way")                                    \
    Y(inbox_state, INBOX_STATE_LIST, INBOX_STATE_COUNT_, "inbox.state")                            \
    Y(inbox_verdict, INBOX_VERDICT_LIST, INBOX_VERDICT_COUNT_, "inbox.verdict")

#define STORE_ENUM_ITEM_(name, word) name,
#define STORE_ENUM_DECLARE_(name, list, count, column)                                             \
    enum name { list(STORE_ENUM_ITEM_) count };                                                    \
    const char *name##_str(enum name value);                                                       \
    bool name##_parse(const char *word, enum name *ret);
STORE_ENUMS(STORE_ENUM_DECLARE_)

#endif
