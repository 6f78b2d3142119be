/* intake/run_games.c - new games, open games, and games that are named; see run.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/str.h"
#include "intake/run.h"

/* ------------------------------------------------------------------------------- a new game */

/* An address that belongs to an account: the invitation goes to that, so that it comes in its
 * language and can be answered by mail.  The answer says the same for both. */
static enum status offer_to_account(struct run *r, const char *key, struct arbiter_offer *ret,
                                    struct err *err)
{
    struct user_row *user = malloc(sizeof *user);
    enum status st = user ? users_find_address(r->a->conn, key, user, err)
                          : err_reason(err, REASON_NO_MEMORY, "a player");

    if (st == ST_OK && user->verified_at != UTC_NONE && user->disabled_at == UTC_NONE)
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = user->id};
    free(user);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status offer_of(struct run *r, const struct command *c, char key[ADDRESS_MAX + 1],
                            struct arbiter_offer *ret, struct err *err)
{
    struct act *a = r->a;
    struct user_row *user = NULL;
    enum status st = ST_OK;

    r->at = c;
    switch (c->offer) {
    case SEAT_OFFER_OPEN:
        *ret = (struct arbiter_offer){.kind = OFFER_OPEN};
        return ST_OK;
    case SEAT_OFFER_ME:
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = a->sender.user.id};
        return ST_OK;
    case SEAT_OFFER_ADDRESS:
        TRY(address_is_fit(c->text, err));
        address_fold(c->text, key);
        *ret = (struct arbiter_offer){.kind = OFFER_MAIL, .address = c->text, .address_key = key};
        return offer_to_account(r, key, ret, err);
    case SEAT_OFFER_HANDLE:
        break;
    }
    user = malloc(sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a player");
    if (strlen(c->text) > HANDLE_MAX) {
        st = err_reason(err, REASON_NO_SUCH_USER, "%s", reason_title(REASON_NO_SUCH_USER));
    } else {
        handle_fold(c->text, key);
        st = users_find_handle(a->conn, key, user, err);
    }
    if (st == ST_OK)
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = user->id};
    else if (err->reason == REASON_NO_SUCH_USER)
        (void)words_print(r->why, sizeof r->why, a->lang, "mail.seat_nobody",
                          (const struct words_arg[]){WORDS_TEXT("name", c->text)}, 1);
    free(user);
    return st;
}

/* A `seat` line beside `create`, in its place.  Its effect is the game's making. */
enum status run_seat(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *c = r->at;
    struct arbiter_offer offer = {.kind = OFFER_OPEN};
    char key[ADDRESS_MAX + 1];
    bool is_own;

    if (!run_has(r->g, COMMAND_CREATE))
        return run_refuse(r, err, REASON_MISSING_FIELD, "mail.create_alone");
    TRY(offer_of(r, c, key, &offer, err));
    is_own = offer.kind == OFFER_USER && offer.user_id == a->sender.user.id;
    say_success(a);
    SAY(a,
        is_own                        ? "mail.seat_me"
        : c->offer == SEAT_OFFER_OPEN ? "mail.seat_open"
                                      : "mail.seat_invited",
        WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)c->seat)),
        WORDS_TEXT("name", c->text));
    say_line(a);
    return ST_OK;
}

/* Then a refusal must not name the account that an address belongs to. */
static bool offers_address(const struct grammar *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->commands[i].kind == COMMAND_SEAT && g->commands[i].offer == SEAT_OFFER_ADDRESS)
            return true;
    return false;
}

/* `create` with all `seat` lines of the letter. */
enum status run_create(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *create = r->at;
    struct arbiter_new_game wish = {.rules = create->text};
    char(*keys)[ADDRESS_MAX + 1] = NULL;
    struct game_row *game = NULL;
    const struct command *twice = NULL; /* names a player who has a seat already */
    unsigned seated = 0;
    char code[64];
    enum status st = ST_OK;

    if (r->has_created)
        return run_refuse(r, err, REASON_LIMIT, "mail.create_alone");
    if (a->token.used_at != UTC_NONE) /* one game a letter of ours */
        return run_refuse(r, err, REASON_LINK_EXPIRED, "mail.token_old");
    keys = calloc(SEATS, sizeof *keys);
    game = malloc(sizeof *game);
    if (!keys || !game) {
        st = err_reason(err, REASON_NO_MEMORY, "a game");
        goto out;
    }
    wish.per_move_ms = create->create.days * MS_DAY;
    wish.is_private = create->create.is_private;
    wish.is_rated = create->create.is_rated;
    wish.table_talk = create->create.table_talk;
    for (size_t i = 0; st == ST_OK && i < r->g->n; i++) {
        const struct command *c = &r->g->commands[i];

        if (c->kind != COMMAND_SEAT)
            continue;
        r->at = c;
        if (seated >> c->seat & 1u)
            st = run_refuse(r, err, REASON_BAD_FIELD, "mail.seat_twice");
        else
            st = offer_of(r, c, keys[c->seat], &wish.seats[c->seat], err);
        if (st == ST_OK && wish.seats[c->seat].kind == OFFER_USER) {
            for (int s = 0; s < SEATS; s++)
                if ((seated >> s & 1u) != 0 && wish.seats[s].kind == OFFER_USER &&
                    wish.seats[s].user_id == wish.seats[c->seat].user_id)
                    twice = c;
        }
        seated |= 1u << c->seat;
    }
    if (st != ST_OK)
        goto out;
    r->at = create;
    st = arbiter_create(a->options->arbiter, a->txn, a->now, act_actor(a), &wish, game, err);
    if (st != ST_OK && err->reason == REASON_ALREADY_SEATED && twice)
        r->at = twice;
    if (st != ST_OK && err->reason == REASON_ALREADY_SEATED && offers_address(r->g))
        st = err_reason(err, REASON_ALREADY_SEATED, "%s", reason_title(REASON_ALREADY_SEATED));
    if (st != ST_OK)
        goto out;
    a->has_game = true;
    a->game = *game;
    st = act_reload(a, err);
    if (st != ST_OK)
        goto out;
    r->has_created = a->has_acted = true;
    (void)snprintf(code, sizeof code, "game.%s", game_variant_str(game->variant));
    say_success(a);
    SAY(a, "mail.created", WORDS_TEXT("game", game->public_id),
        WORDS_TEXT("variant", words_plain(a->lang, code)), WORDS_TEXT("rules", game->rules));
    say_line(a);
    if (a->options->public_url && *a->options->public_url)
        buf_printf(&a->text, "%s/games/%s\n", a->options->public_url, game->public_id);
out:
    free(keys);
    free(game);
    return st;
}

/* ------------------------------------------------------------------------------- open games */

/* From here on the letter is about this game. */
static enum status turn_to(struct run *r, const struct game_row *game, struct err *err)
{
    struct act *a = r->a;

    a->has_game = true;
    a->game = *game;
    return act_reload(a, err);
}

/* The game that the command names. */
static enum status find_named(struct run *r, struct game_row *ret, struct err *err)
{
    enum status st = games_find(r->a->conn, r->at->text, ret, err);

    return st == ST_NOT_FOUND ? run_refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none") : st;
}

/* Which seats of a game the user has: of the letter's, as they were read; of another, read now. */
static enum status own_seats(struct run *r, int64_t game_id, unsigned *ret, struct err *err)
{
    const struct act *a = r->a;
    struct seat_row seats[SEAT_COUNT];

    if (a->has_game && a->game.id == game_id) {
        *ret = a->own;
        return ST_OK;
    }
    TRY(seats_get(a->conn, game_id, seats, err));
    *ret = seats_of_user(seats, a->sender.user.id);
    return ST_OK;
}

/* The allied seat of the first of some. */
static const char *partner_of(unsigned seats)
{
    int seat = 0;

    while (seat < SEAT_COUNT - 1 && (seats >> seat & 1u) == 0)
        seat++;
    return command_seat(seat ^ 2);
}

/* `join 7k2mq0xd`: a second letter with the same does not take the partner's seat as well. */
static enum status join(struct run *r, struct game_row *game, struct err *err)
{
    struct act *a = r->a;
    unsigned seats = r->at->seat >= 0 ? 1u << r->at->seat : 0, before = 0, now = 0;
    enum status st;

    TRY(find_named(r, game, err));
    TRY(own_seats(r, game->id, &before, err));
    if (before != 0 && seats == 0) {
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.join_again",
                          (const struct words_arg[]){WORDS_TEXT("game", game->public_id),
                                                     WORDS_TEXT("seat", partner_of(before))},
                          2);
        return err_reason(err, REASON_ALREADY_SEATED, "%s", reason_title(REASON_ALREADY_SEATED));
    }
    st =
        arbiter_join(a->options->arbiter, a->txn, a->now, act_actor(a), game->id, seats, game, err);
    if (st == ST_NOT_FOUND)
        return run_refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (st != ST_OK)
        return st;
    TRY(a->has_game ? act_reload(a, err) : turn_to(r, game, err));
    TRY(own_seats(r, game->id, &now, err));
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if ((now & ~before) >> seat & 1u) {
            say_success(a);
            SAY(a, "mail.joined", WORDS_TEXT("game", game->public_id),
                WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)seat)));
            say_line(a);
        }
    if (game->state != GAME_OPEN) {
        say_plain(a, "mail.all_seated");
        say_line(a);
    }
    a->has_acted = true;
    return ST_OK;
}

static enum status leave(struct run *r, struct game_row *game, struct err *err)
{
    struct act *a = r->a;
    enum status st;

    if (r->at->text[0])
        TRY(find_named(r, game, err));
    else
        *game = a->game;
    st = arbiter_leave(a->options->arbiter, a->txn, a->now, act_actor(a), game->id,
                       r->at->seat >= 0 ? 1u << r->at->seat : 0, game, err);
    if (st == ST_NOT_FOUND)
        return run_refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (st != ST_OK && err->reason == REASON_GAME_STARTED)
        return run_refuse(r, err, REASON_GAME_STARTED, "mail.leave_late");
    if (st != ST_OK)
        return st;
    a->has_acted = true;
    say_success(a);
    SAY(a, "mail.left", WORDS_TEXT("game", game->public_id));
    say_line(a);
    if (!a->has_game)
        return ST_OK;
    TRY(act_reload(a, err));
    /* What is for its players only is no longer for him. */
    st = arbiter_may_see(a->conn, &a->game, act_actor(a), err);
    a->has_game = st == ST_OK;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

enum status run_open(struct run *r, struct err *err)
{
    struct game_row *game = calloc(1, sizeof *game);
    enum status st;

    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = r->at->kind == COMMAND_JOIN ? join(r, game, err) : leave(r, game, err);
    free(game);
    return st;
}

/* May he look at it?  As every door says. */
static enum status may_look(struct run *r, const struct game_row *game, struct err *err)
{
    enum status st = arbiter_may_see(r->a->conn, game, act_actor(r->a), err);

    return st == ST_NOT_FOUND ? run_refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none") : st;
}

/* `status 7k2mq0xd`: a letter that is about no game is about this one from here on. */
enum status run_look(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct game_row *game = calloc(1, sizeof *game);
    enum status st = game ? find_named(r, game, err) : err_reason(err, REASON_NO_MEMORY, "a game");

    if (st == ST_OK)
        st = may_look(r, game, err);
    if (st == ST_OK && !a->has_game)
        st = turn_to(r, game, err);
    if (st == ST_OK && game->id != a->game.id) {
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.other_game",
                          (const struct words_arg[]){WORDS_TEXT("game", a->game.public_id)}, 1);
        st = err_reason(err, REASON_BAD_REQUEST, "%s", reason_title(REASON_BAD_REQUEST));
    }
    free(game);
    return st;
}
