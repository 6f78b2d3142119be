#include "arbiter/table.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "store/timers.h"

static struct arbiter_offer user_offer(const struct table *t, int user)
{
    return (struct arbiter_offer){.kind = OFFER_USER, .user_id = t->user[user]};
}

static struct arbiter_offer mail_offer(const char *address)
{
    return (struct arbiter_offer){.kind = OFFER_MAIL, .address = address, .address_key = address};
}

static struct call create_call(struct table *t, int creator, const struct arbiter_new_game *wish)
{
    return (struct call){.op = OP_CREATE, .t = t, .actor = player(t, creator), .wish = wish};
}

static struct call invite_call(struct table *t, int64_t game, int by, int seat,
                               const struct arbiter_offer *offer)
{
    struct call c = acts(t, OP_INVITE, game, by);

    c.seat = seat;
    c.offer = offer;
    return c;
}

static struct seat_row seat_of(struct table *t, int64_t game, int seat)
{
    struct seat_row rows[SEATS];
    struct err err = ERR_INIT;

    assert_ok(seats_get(store_reader_conn(t->reader), game, rows, &err), err);
    return rows[seat];
}

static void test_an_open_game_starts_when_the_fourth_has_joined(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct game_row g = game_get(t, game);
    char text[256];

    assert_int_equal(g.state, GAME_OPEN);
    assert_int_equal(g.open_seats, 4);
    assert_int_equal(g.per_move_ms, 14 * MS_DAY);
    assert_int_equal(g.expires_at, T0 + 30 * MS_DAY);
    assert_int_equal(strlen(g.public_id), 8);
    assert_string_equal(g.rules, "verney inert=safe queens=light promotion=queen");
    join(t, game, EAST, 3);
    join(t, game, SOUTH, 0);
    pass(t, MS_HOUR);
    join(t, game, WEST, 1);
    assert_int_equal(game_get(t, game).state, GAME_OPEN);
    join(t, game, NORTH, 2);
    g = game_get(t, game);
    assert_int_equal(g.state, GAME_RUNNING);
    assert_int_equal(g.open_seats, 0);
    assert_int_equal(g.turn_seat, 0);
    assert_int_equal(g.turn_user_id, t->user[SOUTH]);
    assert_int_equal(g.started_at, T0 + MS_HOUR);
    assert_int_equal(g.deadline_at, T0 + MS_HOUR + 14 * MS_DAY);
    assert_int_equal(g.expires_at, UTC_NONE);
    assert_string_equal(g.position, g.start_position);
    assert_string_equal(story(t, game, 0, text, sizeof text),
                        "created seat_taken:3 seat_taken:0 seat_taken:1 seat_taken:2 started "
                        "turn:0");
    assert_false(g.table_talk); /* unless asked for */
    RULE("R-C12");
    assert_int_equal(g.state_no, g.last_seq); /* the turn */
    assert_sound(t, game);
}

static void test_join_without_a_seat_takes_the_first_that_fits(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c;

    join(t, game, WEST, 1);
    c = acts(t, OP_JOIN, game, WEST); /* the next free one is South's, an enemy's */
    call_ok(&c);
    assert_int_equal(seat_of(t, game, 3).user_id, t->user[WEST]);
    c = acts(t, OP_JOIN, game, WEST);
    call_refused(&c, REASON_GAME_FULL);
}

static void test_one_may_play_both_armies_of_a_side_and_no_others(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c = acts(t, OP_JOIN, game, SOUTH);

    c.seats = 1u << 0 | 1u << 1;
    call_refused(&c, REASON_ALREADY_SEATED);
    c.seats = 1u << 0 | 1u << 2;
    call_ok(&c);
    c = acts(t, OP_JOIN, game, SOUTH);
    c.seats = 1u << 3;
    call_refused(&c, REASON_ALREADY_SEATED);
    c.seats = 1u << 0;
    call_refused(&c, REASON_ALREADY_SEATED);
    c = acts(t, OP_JOIN, game, WEST);
    c.seats = 1u << 1 | 1u << 3;
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_RUNNING);
    move_ok(t, game, "e2e3");
    assert_int_equal(game_get(t, game).turn_user_id, t->user[WEST]);
    RULE("R-C13");
    assert_sound(t, game);
}

static void test_a_seat_is_taken_once(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c;

    join(t, game, WEST, 1);
    c = acts(t, OP_JOIN, game, EAST);
    c.seats = 1u << 1;
    call_refused(&c, REASON_GAME_FULL);
    c.seats = 1u << 4;
    call_refused(&c, REASON_BAD_FIELD);
}

static void test_leaving_before_the_start_opens_the_seat_again(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c;

    join(t, game, WEST, 1);
    c = acts(t, OP_LEAVE, game, EAST);
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = acts(t, OP_LEAVE, game, WEST);
    c.seats = 1u << 2;
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c.seats = 0;
    call_ok(&c);
    assert_int_equal(c.game.open_seats, 4);
    join(t, game, EAST, 1);
    assert_int_equal(count_events(t, game, GAME_EVENT_SEAT_LEFT), 1);
}

static void test_after_the_start_nobody_joins_leaves_or_is_invited(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct arbiter_offer offer = user_offer(t, STRANGER);
    struct call c;

    c = acts(t, OP_LEAVE, game, WEST);
    call_refused(&c, REASON_GAME_STARTED);
    c = acts(t, OP_JOIN, game, STRANGER);
    call_refused(&c, REASON_GAME_STARTED);
    c = invite_call(t, game, ORGANISER, 0, &offer);
    call_refused(&c, REASON_GAME_STARTED);
    c = acts(t, OP_WITHDRAW, game, ORGANISER);
    call_refused(&c, REASON_GAME_STARTED);
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_refused(&c, REASON_GAME_STARTED);
}

static void test_wishes_that_cannot_be_are_refused_by_name(void **state)
{
    struct table *t = *state;
    struct {
        struct arbiter_new_game wish;
        enum reason reason;
        const char *word;
    } cases[] = {
        {{.rules = "chess"}, REASON_BAD_FIELD, "chess"},
        {{.rules = "verney inert=maybe"}, REASON_BAD_FIELD, "maybe"},
        {{.rules = "verney reserve=usual"}, REASON_BAD_FIELD, "reserve"},
        {{.rules = ""}, REASON_BAD_FIELD, "games: verney, fortress, teams"},
        {{.rules = "verney", .per_move_ms = MS_HOUR - 1}, REASON_BAD_FIELD, "from 1h"},
        {{.rules = "verney", .per_move_ms = 60 * MS_DAY + 1}, REASON_BAD_FIELD, "60d"},
        {{.rules = "verney", .seats = {{.kind = OFFER_USER, .user_id = 999}}},
         REASON_NO_SUCH_USER, "South"},
        {{.rules = "verney", .seats = {{.kind = OFFER_MAIL, .address = "", .address_key = ""}}},
         REASON_BAD_FIELD, "address"},
        {{.rules = "verney",
          .seats = {{.kind = OFFER_USER, .user_id = t->user[WEST]},
                    {.kind = OFFER_USER, .user_id = t->user[WEST]}}},
         REASON_ALREADY_SEATED, "boris"},
        {{.rules = "verney",
          .seats = {{.kind = OFFER_MAIL, .address = "x@example.org",
                     .address_key = "x@example.org"},
                    {.kind = OFFER_MAIL, .address = "X@example.org",
                     .address_key = "x@example.org"}}},
         REASON_ALREADY_SEATED, "South"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct call c = create_call(t, ORGANISER, &cases[i].wish);
        struct err err = ERR_INIT;

        assert_int_not_equal(call_run(&c, &err), ST_OK);
        if (err.reason != cases[i].reason || !strstr(err.text, cases[i].word))
            fail_msg("case %zu: %s: %s", i, reason_slug(err.reason), err.text);
    }
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call c = create_call(t, ORGANISER, &wish);
    struct err err = ERR_INIT;
    c.actor.user_id = 0;
    assert_int_not_equal(call_run(&c, &err), ST_OK);
    assert_int_equal(err.reason, REASON_LOGIN_NEEDED);
    /* the limits themselves are allowed */
    wish.per_move_ms = MS_HOUR;
    c = create_call(t, ORGANISER, &wish);
    call_ok(&c);
    wish.per_move_ms = 60 * MS_DAY;
    c = create_call(t, ORGANISER, &wish);
    call_ok(&c);
    /* refused games leave nothing behind */
    int64_t n[GAME_STATE_COUNT_];
    assert_ok(games_tally(store_reader_conn(t->reader), n, &err), err);
    assert_int_equal(n[GAME_OPEN], 2);
}

static void test_only_so_many_open_games_an_organiser(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call c = create_call(t, SOUTH, &wish);

    t->arb.limits.open_games = 3;
    for (int i = 0; i < 3; i++)
        call_ok(&c);
    call_refused(&c, REASON_LIMIT);
    c = create_call(t, WEST, &wish);
    call_ok(&c);
    /* one that has started does not count */
    int64_t game = c.game.id;
    for (int s = 0; s < SEATS; s++)
        join(t, game, s, s);
    for (int i = 0; i < 3; i++) {
        c = create_call(t, WEST, &wish);
        call_ok(&c);
    }
    call_refused(&c, REASON_LIMIT);
}

/* Who has no account cannot refuse letters; taking invitations back makes no room for others. */
static void test_an_address_is_invited_so_often_a_day_whatever_becomes_of_it(void **state)
{
    struct table *t = *state;
    const struct arbiter_offer victim = mail_offer("vic@stranger.example");
    const struct arbiter_offer other = mail_offer("val@stranger.example");
    struct arbiter_new_game wish = {.rules = "verney", .seats = {victim}};
    struct call c, end;

    for (int i = 0; i < 5; i++) { /* one account: five */
        c = create_call(t, SOUTH, &wish);
        call_ok(&c);
        end = acts(t, i % 2 ? OP_ABORT : OP_WITHDRAW, c.game.id, SOUTH);
        call_ok(&end);
    }
    call_refused(&c, REASON_LIMIT);
    wish.seats[0] = other;
    call_ok(&c);
    wish.seats[0] = victim;
    for (int i = 0; i < 5; i++) { /* all together: ten */
        c = create_call(t, WEST, &wish);
        call_ok(&c);
        end = acts(t, OP_ABORT, c.game.id, WEST);
        call_ok(&end);
    }
    c = create_call(t, NORTH, &wish);
    call_refused(&c, REASON_LIMIT);
    pass(t, MS_DAY - 1);
    call_refused(&c, REASON_LIMIT);
    pass(t, 1);
    call_ok(&c);
}

/* Whatever is asked at once is looked at one after the other, where it is recorded. */
/* A player can refuse letters of this kind altogether, which is no defence against one who makes
 * and calls off games for their letters. */
static void test_a_player_is_invited_so_often_a_day_by_another(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney", .seats = {user_offer(t, EAST)}};
    struct call c, end;

    t->arb.limits.games = 51; /* as many invitations, and fifty at least */
    for (int i = 0; i < 51; i++) {
        c = create_call(t, SOUTH, &wish);
        call_ok(&c);
        end = acts(t, i % 2 ? OP_ABORT : OP_WITHDRAW, c.game.id, SOUTH);
        call_ok(&end);
        end = acts(t, OP_ABORT, c.game.id, SOUTH);
        if (i % 2 == 0)
            call_ok(&end);
    }
    call_refused(&c, REASON_LIMIT);
    wish.seats[0] = user_offer(t, NORTH); /* another */
    call_ok(&c);
    wish.seats[0] = user_offer(t, EAST);
    c = create_call(t, WEST, &wish); /* by another */
    call_ok(&c);
    c = create_call(t, SOUTH, &wish);
    pass(t, MS_DAY - 1);
    call_refused(&c, REASON_LIMIT);
    pass(t, 1);
    call_ok(&c);
}

static void test_of_two_commands_in_one_batch_the_second_meets_the_limit(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct arbiter_new_game with = {.rules = "teams", .seats = {user_offer(t, WEST)}};
    struct call calls[2];
    enum status st[2];
    int64_t open[2], invited[2];

    for (int i = 0; i < 2; i++) {
        struct call c = create_call(t, ORGANISER, &wish);
        call_ok(&c);
        open[i] = c.game.id;
        c = create_call(t, ORGANISER, &with);
        call_ok(&c);
        invited[i] = c.game.id;
    }
    t->arb.limits.games = 1;
    for (int i = 0; i < 2; i++)
        calls[i] = create_call(t, NORTH, &wish);
    calls_at_once(calls, 2, st);
    assert_int_equal(st[0], ST_OK);
    assert_int_equal(st[1], reason_status(REASON_LIMIT));
    for (int i = 0; i < 2; i++) {
        calls[i] = acts(t, OP_JOIN, open[i], EAST);
        calls[i].seats = 1u << EAST;
    }
    calls_at_once(calls, 2, st);
    assert_int_equal(st[0], ST_OK);
    assert_int_equal(st[1], reason_status(REASON_LIMIT));
    for (int i = 0; i < 2; i++)
        calls[i] = acts(t, OP_ACCEPT, invited[i], WEST);
    calls_at_once(calls, 2, st);
    assert_int_equal(st[0], ST_OK);
    assert_int_equal(st[1], reason_status(REASON_LIMIT));
    /* the partner's seat of a game that one has is no further game */
    struct call c = acts(t, OP_JOIN, invited[0], WEST);
    c.seats = 1u << NORTH;
    call_ok(&c);
    c = acts(t, OP_JOIN, open[1], NORTH);
    call_refused(&c, REASON_LIMIT);
    /* one that has ended does not count */
    c = acts(t, OP_ABORT, invited[0], ORGANISER);
    call_ok(&c);
    c = acts(t, OP_ACCEPT, invited[1], WEST);
    call_ok(&c);
}

static void test_a_game_by_handles_starts_when_all_accept(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "teams", .per_move_ms = 3 * MS_DAY, .is_rated = true,
                                    .table_talk = true,
                                    .seats = {user_offer(t, SOUTH), user_offer(t, WEST),
                                              user_offer(t, NORTH), user_offer(t, EAST)}};
    struct call c = create_call(t, SOUTH, &wish);
    char text[256];

    call_ok(&c);
    int64_t game = c.game.id;
    assert_true(c.game.is_rated && c.game.table_talk);
    assert_string_equal(story(t, game, 0, text, sizeof text),
                        "created seat_taken:0 invited:1 invited:2 invited:3");
    assert_string_equal(last_event(t, game, GAME_EVENT_INVITED).note, "david");
    assert_int_equal(seat_of(t, game, 1).state, SEAT_INVITED);
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_refused(&c, REASON_FORBIDDEN);
    c = acts(t, OP_JOIN, game, STRANGER);
    call_refused(&c, REASON_GAME_FULL);
    c = acts(t, OP_ACCEPT, game, WEST);
    call_ok(&c);
    call_refused(&c, REASON_FORBIDDEN); /* it is answered */
    c = acts(t, OP_ACCEPT, game, EAST);
    call_ok(&c);
    c = acts(t, OP_ACCEPT, game, NORTH);
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_RUNNING);
    assert_int_equal(timers_now(t, game, (struct timer_row[8]){{0}}, 8), 1); /* the clock's */
    assert_sound(t, game);
}

static void test_one_invited_to_two_allied_seats_accepts_both_at_once(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney",
                                    .seats = {user_offer(t, SOUTH), user_offer(t, WEST),
                                              user_offer(t, SOUTH), user_offer(t, WEST)}};
    struct call c = create_call(t, SOUTH, &wish);

    call_ok(&c);
    c = acts(t, OP_ACCEPT, c.game.id, WEST);
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_RUNNING);
}

static void test_a_declined_seat_is_open_and_may_be_offered_again(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney",
                                    .seats = {user_offer(t, SOUTH), user_offer(t, WEST)}};
    struct arbiter_offer offer = user_offer(t, STRANGER);
    struct call c = create_call(t, SOUTH, &wish);

    call_ok(&c);
    int64_t game = c.game.id;
    c = acts(t, OP_DECLINE, game, WEST);
    call_ok(&c);
    assert_int_equal(c.game.open_seats, 3);
    assert_int_equal(last_event(t, game, GAME_EVENT_DECLINED).seat, 1);
    c = invite_call(t, game, STRANGER, 1, &offer);
    call_refused(&c, REASON_FORBIDDEN);
    c = invite_call(t, game, SOUTH, 1, &offer);
    call_ok(&c);
    c = invite_call(t, game, SOUTH, 1, &offer);
    call_refused(&c, REASON_GAME_FULL);
    c = invite_call(t, game, SOUTH, 2, &offer);
    call_refused(&c, REASON_ALREADY_SEATED); /* he is invited to an enemy's seat */
    c = invite_call(t, game, OPERATOR, 3, &offer);
    call_ok(&c);
    c = acts(t, OP_WITHDRAW, game, SOUTH);
    c.seat = 3;
    call_ok(&c);
    call_refused(&c, REASON_ALREADY_DONE);
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_ok(&c);
    assert_int_equal(seat_of(t, game, 1).user_id, t->user[STRANGER]);
    assert_int_equal(seat_of(t, game, 3).state, SEAT_OPEN);
}

/* ---------------------------------------------------------------- by mail */

struct token {
    int64_t game;
    int seat;
    unsigned char hash[32];
};

static int64_t mail_game(struct table *t, const char *address)
{
    struct arbiter_new_game wish = {.rules = "verney",
                                    .seats = {user_offer(t, SOUTH), mail_offer(address),
                                              {.kind = OFFER_OPEN}, mail_offer(address)}};
    struct call c = create_call(t, SOUTH, &wish);

    call_ok(&c);
    return c.game.id;
}

static void test_whoever_has_verified_the_address_may_accept(void **state)
{
    struct table *t = *state;
    int64_t game = mail_game(t, "boris@example.org");
    struct call c;

    assert_string_equal(last_event(t, game, GAME_EVENT_INVITED).note, ""); /* no address (U4) */
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_refused(&c, REASON_FORBIDDEN);
    c = acts(t, OP_ACCEPT, game, WEST);
    call_ok(&c);
    assert_int_equal(seat_of(t, game, 1).user_id, t->user[WEST]);
    assert_int_equal(seat_of(t, game, 3).user_id, t->user[WEST]);
}

/* The courier mints tokens; the test plays its part through an invitation of its own. */
struct minted {
    int64_t game;
    unsigned char hash[STORE_HASH_SIZE];
    utc_ms expires_at;
    int64_t by;
    const char *address;
};

static enum status mint(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct minted *m = arg;
    struct invitation_row row = {.game_id = m->game, .seat = 2, .invited_by = m->by,
                                 .state = INVITATION_PENDING, .created_at = now,
                                 .expires_at = m->expires_at, .settled_at = UTC_NONE};
    int64_t id;

    (void)snprintf(row.address, sizeof row.address, "%s", m->address);
    (void)snprintf(row.address_key, sizeof row.address_key, "%s", m->address);
    return invitations_create(txn, &row, m->hash, &id, err);
}

static struct minted minted(struct table *t, int64_t game, const char *address)
{
    struct minted m = {.game = game, .by = t->user[SOUTH], .address = address,
                       .expires_at = now_of(t) + 14 * MS_DAY};
    struct writer_command command = {.name = "mint", .run = mint, .arg = &m};
    struct err err = ERR_INIT;

    memset(m.hash, 7, sizeof m.hash);
    assert_ok(writer_run(t->writer, &command, &err), err);
    return m;
}

static void test_whoever_has_the_mailed_link_may_accept(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    int64_t other = game_create_open(t, "verney", SOUTH, false);
    struct minted m = minted(t, game, "nobody@example.com");
    unsigned char wrong[32] = {1};
    struct call c = acts(t, OP_ACCEPT, game, STRANGER);

    c.token_hash = wrong;
    call_refused(&c, REASON_LINK_EXPIRED);
    c = acts(t, OP_ACCEPT, other, STRANGER);
    c.token_hash = m.hash;
    call_refused(&c, REASON_LINK_EXPIRED); /* it is for another game */
    c = acts(t, OP_ACCEPT, game, STRANGER);
    c.token_hash = m.hash;
    c.actor.user_id = 0;
    call_refused(&c, REASON_LOGIN_NEEDED);
    c.actor.user_id = t->user[STRANGER];
    call_ok(&c);
    assert_int_equal(seat_of(t, game, 2).user_id, t->user[STRANGER]);
    call_refused(&c, REASON_LINK_EXPIRED); /* once */
}

static void test_a_mailed_invitation_is_declined_without_an_account(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct minted m = minted(t, game, "nobody@example.com");
    struct call c = acts(t, OP_DECLINE, game, STRANGER);

    c.actor.user_id = 0;
    call_refused(&c, REASON_LOGIN_NEEDED);
    c.token_hash = m.hash;
    call_ok(&c);
    assert_int_equal(seat_of(t, game, 2).state, SEAT_OPEN);
}

static void test_a_link_ends_the_millisecond_its_invitation_does(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct minted m = minted(t, game, "nobody@example.com");
    struct call c = acts(t, OP_ACCEPT, game, STRANGER);

    c.token_hash = m.hash;
    c.has_at = true;
    c.at = m.expires_at;
    call_refused(&c, REASON_LINK_EXPIRED);
    c.at = m.expires_at - 1;
    call_ok(&c);
}

/* ---------------------------------------------------------------- expiry */

static void test_unanswered_invitations_expire_on_the_tick_not_before(void **state)
{
    struct table *t = *state;
    struct arbiter_new_game wish = {.rules = "verney", .seats = {user_offer(t, SOUTH),
                                                                 user_offer(t, WEST)}};
    struct call c = create_call(t, SOUTH, &wish);

    call_ok(&c);
    int64_t game = c.game.id;
    for (int day = 0; day < 14 * 24 * 20; day++) { /* the server lives: no outage */
        pass(t, 3 * MS_MINUTE);
        if (now_of(t) < T0 + 14 * MS_DAY)
            (void)tick(t);
    }
    assert_int_equal(now_of(t), T0 + 14 * MS_DAY);
    assert_int_equal(count_events(t, game, GAME_EVENT_INVITE_EXPIRED), 0);
    assert_int_equal(tick(t).expired, 1);
    assert_int_equal(last_event(t, game, GAME_EVENT_INVITE_EXPIRED).seat, 1);
    assert_int_equal(game_get(t, game).open_seats, 3);
    c = acts(t, OP_ACCEPT, game, WEST);
    call_refused(&c, REASON_FORBIDDEN);
}

static void test_a_game_that_never_fills_is_called_off(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct game_row g;

    join(t, game, WEST, 1);
    pass(t, 30 * MS_DAY - 1);
    tick_all(t, true);
    assert_int_equal(game_get(t, game).state, GAME_OPEN); /* T1 */
    pass(t, 1);
    tick_all(t, false);
    g = game_get(t, game);
    assert_int_equal(g.state, GAME_ABORTED);
    assert_int_equal(g.cause, GAME_CAUSE_EXPIRED);
    assert_int_equal(g.ended_at, T0 + 30 * MS_DAY);
    assert_int_equal(timers_now(t, game, (struct timer_row[8]){{0}}, 8), 0);
    struct call c = acts(t, OP_JOIN, game, EAST);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
    assert_sound(t, game);
}

/* ---------------------------------------------------------------- private games */

static void test_strangers_do_not_learn_that_a_private_game_exists(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, true);
    struct arbiter_offer offer = user_offer(t, WEST);
    struct call c;

    c = acts(t, OP_JOIN, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_LEAVE, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_ABORT, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_MOVE, game, STRANGER);
    c.text = "e2e3";
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = invite_call(t, game, SOUTH, 1, &offer);
    call_ok(&c);
    c = acts(t, OP_JOIN, game, WEST); /* he belongs to it now */
    c.seats = 1u << 3;
    call_ok(&c);
    c = acts(t, OP_JOIN, game, SOUTH);
    c.seats = 1u;
    call_ok(&c);
}

static void test_strangers_learn_nothing_of_a_private_game_that_runs(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, true);
    struct arbiter_offer offer;
    struct call c;

    join(t, game, SOUTH, SOUTH);
    for (int p = WEST; p <= EAST; p++) {
        offer = user_offer(t, p);
        c = invite_call(t, game, SOUTH, p, &offer);
        call_ok(&c);
        c = acts(t, OP_ACCEPT, game, p);
        call_ok(&c);
    }
    c = acts(t, OP_ACCEPT, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_DECLINE, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
    c = acts(t, OP_ACCEPT, game, WEST);
    call_refused(&c, REASON_GAME_STARTED);
}

static void test_a_game_that_is_not_there(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c = acts(t, OP_JOIN, game, SOUTH);
    struct err err = ERR_INIT;

    c.act.game_id = 4711;
    assert_st(call_run(&c, &err), ST_NOT_FOUND, err);
    assert_int_equal(err.reason, REASON_NO_SUCH_GAME);
}

static void test_when_the_letter_writer_fails_the_command_leaves_nothing(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c = acts(t, OP_JOIN, game, WEST);

    t->fail_hook_after = 0;
    call_refused(&c, REASON_NONE);
    assert_int_equal(seat_of(t, game, 0).state, SEAT_OPEN);
    t->fail_hook_after = -1;
    call_ok(&c);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_an_open_game_starts_when_the_fourth_has_joined),
        T(test_join_without_a_seat_takes_the_first_that_fits),
        T(test_one_may_play_both_armies_of_a_side_and_no_others),
        T(test_a_seat_is_taken_once),
        T(test_leaving_before_the_start_opens_the_seat_again),
        T(test_after_the_start_nobody_joins_leaves_or_is_invited),
        T(test_wishes_that_cannot_be_are_refused_by_name),
        T(test_only_so_many_open_games_an_organiser),
        T(test_an_address_is_invited_so_often_a_day_whatever_becomes_of_it),
        T(test_a_player_is_invited_so_often_a_day_by_another),
        T(test_of_two_commands_in_one_batch_the_second_meets_the_limit),
        T(test_a_game_by_handles_starts_when_all_accept),
        T(test_one_invited_to_two_allied_seats_accepts_both_at_once),
        T(test_a_declined_seat_is_open_and_may_be_offered_again),
        T(test_whoever_has_verified_the_address_may_accept),
        T(test_whoever_has_the_mailed_link_may_accept),
        T(test_a_mailed_invitation_is_declined_without_an_account),
        T(test_a_link_ends_the_millisecond_its_invitation_does),
        T(test_unanswered_invitations_expire_on_the_tick_not_before),
        T(test_a_game_that_never_fills_is_called_off),
        T(test_strangers_do_not_learn_that_a_private_game_exists),
        T(test_strangers_learn_nothing_of_a_private_game_that_runs),
        T(test_a_game_that_is_not_there),
        T(test_when_the_letter_writer_fails_the_command_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
