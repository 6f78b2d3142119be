#include "notify/club.h"

#include <stdio.h>
#include <string.h>

static char got[8192];

#define assert_mail(club, since, want)                                                             \
    assert_string_equal(intents_since(club, since, "mail", got, sizeof got), want)
#define assert_hooks(club, since, want)                                                            \
    assert_string_equal(intents_since(club, since, "webhook", got, sizeof got), want)

static int set_up(void **state)
{
    *state = club_open();
    return 0;
}

static int tear_down(void **state)
{
    club_close(*state);
    return 0;
}

/* N1: exactly one a turn. */
static void test_each_turn_causes_one_letter_to_the_mover(void **state)
{
    struct club *c = *state;
    int64_t game, since;

    game = game_start(c->t, "verney");
    assert_mail(c, 0, "anna:turn boris:started clara:started david:started");
    since = newest_intent(c);
    move_ok(c->t, game, "e2e3");
    assert_mail(c, since, "boris:turn");
    since = newest_intent(c);
    move_ok(c->t, game, "b5c5");
    assert_mail(c, since, "clara:turn");
    since = newest_intent(c);
    (void)tick(c->t); /* nothing happened: nobody hears of it */
    assert_int_equal(newest_intent(c), since);
}

static void test_an_intent_of_an_undone_command_is_not_there(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), since = newest_intent(c);

    move_refused(c->t, game, "e2e5", REASON_ILLEGAL_MOVE);
    assert_int_equal(newest_intent(c), since);
}

/* R-C13: one player, two seats, one letter. */
static void test_who_plays_two_seats_gets_one_letter(void **state)
{
    struct club *c = *state;
    int64_t game = game_create_open(c->t, "verney", ORGANISER, false), since;

    join(c->t, game, SOUTH, 0);
    join(c->t, game, SOUTH, 2);
    join(c->t, game, WEST, 1);
    since = newest_intent(c);
    join(c->t, game, WEST, 3);
    assert_mail(c, since, "anna:turn boris:started");
    since = newest_intent(c);
    {
        struct call call = acts(c->t, OP_RESIGN, game, WEST);

        call.act.seat = 1;
        call_ok(&call);
    }
    assert_mail(c, since, "anna:turn"); /* which says so too: hers is another turn now */
}

static void test_switches_are_by_class_and_channel(void **state)
{
    struct club *c = *state;
    int64_t game, since;

    (void)club_webhook(c, WEST, "https://hooks.example.org/b", WEBHOOK_STANDARD, "");
    club_pref(c, SOUTH, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF);
    game = game_start(c->t, "verney");
    assert_mail(c, 0, "anna:started boris:started clara:started david:started");
    assert_hooks(c, 0, "boris:started");
    club_pref(c, WEST, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF);
    since = newest_intent(c);
    move_ok(c->t, game, "e2e3");
    assert_mail(c, since, ""); /* N20: mail is off, the webhook is not */
    assert_hooks(c, since, "boris:turn");
    club_pref(c, WEST, NOTICE_TURN, CHANNEL_WEBHOOK, PREF_OFF);
    club_pref(c, WEST, NOTICE_TURN, CHANNEL_MAIL, PREF_DEFAULT);
    {
        struct call call = acts(c->t, OP_PAUSE, game, ORGANISER);

        since = newest_intent(c);
        call_ok(&call); /* who did it is not told */
    }
    assert_mail(c, since, "anna:paused boris:paused clara:paused david:paused");
}

static void test_login_and_security_letters_cannot_be_switched_off(void **state)
{
    (void)state;
    assert_false(notice_is_switchable(NOTICE_LOGIN));
    assert_false(notice_is_switchable(NOTICE_SECURITY));
    for (int cls = NOTICE_INVITATION; cls <= NOTICE_WEBHOOK_DISABLED; cls++) {
        assert_true(notice_is_switchable((enum notice_class)cls));
        assert_true(notice_default((enum notice_class)cls, CHANNEL_MAIL));
    }
}

/* N15: results, with all that led to them in one letter. */
static void test_a_result_is_told_to_all_and_once(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), since;
    struct call call = acts(c->t, OP_RESIGN, game, WEST);

    since = newest_intent(c);
    call_ok(&call);
    assert_mail(c, since, "anna:turn clara:resigned david:resigned");
    since = newest_intent(c);
    call = acts(c->t, OP_RESIGN, game, EAST);
    call_ok(&call);
    assert_mail(c, since, "anna:finished boris:finished clara:finished david:finished "
                          "orga:finished");
}

/* T2: all four hear of a forfeit, and the next mover hears that it is his turn. */
static void test_a_forfeit_is_told_to_all_four(void **state)
{
    struct club *c = *state;
    int64_t game = game_start_days(c->t, "verney", 1), since;

    club_courier(c, 0, NULL);
    (void)club_send(c); /* T17: nobody loses a turn that he was not told of */
    pass(c->t, 36 * MS_HOUR + 1); /* a day and the grace, in one sleep: credited first */
    tick_all(c->t, false);
    for (int i = 0; i < 40; i++) { /* and then awake */
        pass(c->t, MS_HOUR);
        since = newest_intent(c);
        for (int k = 0; k < 13; k++) {
            pass(c->t, 5 * MS_MINUTE - 1);
            tick_all(c->t, false);
        }
        if (count_events(c->t, game, GAME_EVENT_FORFEITED) > 0)
            break;
    }
    assert_int_equal(count_events(c->t, game, GAME_EVENT_FORFEITED), 1);
    (void)intents_since(c, since, "mail", got, sizeof got);
    assert_non_null(strstr(got, "anna:forfeited"));
    assert_non_null(strstr(got, "clara:forfeited"));
    assert_non_null(strstr(got, "david:forfeited"));
    assert_non_null(strstr(got, "boris:turn"));
    assert_null(strstr(got, "boris:forfeited"));
}

static void test_warnings_go_to_the_mover_and_the_organisers_to_him(void **state)
{
    struct club *c = *state;
    int64_t game = game_create_open(c->t, "verney", ORGANISER, false);

    join(c->t, game, SOUTH, 0);
    join(c->t, game, WEST, 1);
    join(c->t, game, NORTH, 2);
    join(c->t, game, EAST, 3);
    club_courier(c, 0, NULL);
    (void)club_send(c);
    for (int k = 0; k < 13 * 24 * 13; k++) { /* a fortnight in steps that are no outage */
        pass(c->t, 5 * MS_MINUTE - 1);
        if (k % 12 == 0)
            tick_all(c->t, false);
        else
            (void)tick(c->t);
        if (count_events(c->t, game, GAME_EVENT_WARNING) >= 4)
            break;
    }
    assert_int_equal(
        club_count(c, "SELECT count(*) FROM outbox WHERE template = 'warning' AND user_id <> "
                      "(SELECT id FROM users WHERE handle = 'anna')"),
        0);
    assert_true(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'warning'") >= 2);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = "
                                   "'warning_organiser' AND user_id = "
                                   "(SELECT id FROM users WHERE handle = 'orga')"),
                     1);
}

/* N16 */
/* A mate and its release are told to all four, each by his own switch; who is on turn reads of it
 * in the letter of his turn. */
static void test_a_mate_and_its_release_are_told_to_all(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), since;

    set_position(c->t, game,
                 "verney x,x,x,8,x,x,x/x,x,x,5,yK,2,x,x,x/x,x,x,8,x,x,x/8,wK,5/14/1,rQ,9,rR,2/"
                 "8,rK,5/14/14/14/14/x,x,x,2,bK,5,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x "
                 "r aaaa - - 0 0");
    since = newest_intent(c);
    move_ok(c->t, game, "b9i9"); /* White is mated */
    assert_mail(c, since, "anna:mated boris:mated clara:turn david:mated");
    club_pref(c, WEST, NOTICE_MATE, CHANNEL_MAIL, PREF_OFF);
    since = newest_intent(c);
    move_ok(c->t, game, "i13j12"); /* and released (R-V15) */
    assert_mail(c, since, "anna:released clara:released david:turn");
}

static void test_draw_offers_and_answers_go_to_the_others(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), since = newest_intent(c);
    struct call call = acts(c->t, OP_OFFER, game, SOUTH);

    call_ok(&call);
    assert_mail(c, since, "boris:draw_offered clara:draw_offered david:draw_offered");
    since = newest_intent(c);
    call = acts(c->t, OP_ACCEPT_DRAW, game, WEST);
    call_ok(&call);
    assert_mail(c, since, "anna:draw_accepted clara:draw_accepted david:draw_accepted");
    since = newest_intent(c);
    call = acts(c->t, OP_DECLINE_DRAW, game, EAST);
    call_ok(&call);
    assert_mail(c, since, "anna:draw_declined boris:draw_declined clara:draw_declined");
}

static void test_invitations_go_to_who_is_invited_and_answers_to_the_organiser(void **state)
{
    struct club *c = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    int64_t since;

    wish.seats[0] = (struct arbiter_offer){.kind = OFFER_USER, .user_id = c->t->user[SOUTH]};
    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "new@example.net",
                                           .address_key = "new@example.net"};
    call_ok(&call);
    assert_mail(c, 0, "anna:invitation new@example.net:invitation_address");
    since = newest_intent(c);
    {
        struct call no = acts(c->t, OP_DECLINE, call.game.id, SOUTH);

        call_ok(&no);
    }
    assert_mail(c, since, "orga:declined");
}

static void test_placing_is_asked_of_each_who_has_not_placed(void **state)
{
    struct club *c = *state;
    int64_t since;

    (void)game_start(c->t, "fortress reserve=chosen");
    (void)intents_since(c, 0, "mail", got, sizeof got);
    since = newest_intent(c);
    (void)since;
    assert_string_equal(got, "anna:placing boris:placing clara:placing david:placing");
}

/* What still waits about a turn is too late when the next turn begins. */
static void test_a_turn_that_has_passed_on_is_superseded(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");

    move_ok(c->t, game, "e2e3");
    club_courier(c, 0, NULL);
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'turn' AND "
                                   "state = 'superseded'"),
                     1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'turn' AND "
                                   "state = 'sent'"),
                     1);
}

/* N19 */
static void test_a_shared_endpoint_gets_an_event_once(void **state)
{
    struct club *c = *state;
    int64_t game, since;
    struct call call;

    for (int user = SOUTH; user <= EAST; user++)
        (void)club_webhook(c, user, "https://hooks.example.org/club", WEBHOOK_STANDARD,
                           "result leaving");
    game = game_start(c->t, "verney");
    assert_hooks(c, 0, ""); /* these events are not wanted */
    since = newest_intent(c);
    call = acts(c->t, OP_RESIGN, game, WEST);
    call_ok(&call);
    assert_hooks(c, since, "anna:resigned");
    since = newest_intent(c);
    call = acts(c->t, OP_RESIGN, game, EAST);
    call_ok(&call);
    (void)intents_since(c, since, "webhook", got, sizeof got);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE channel = 'webhook' AND "
                                   "template = 'finished'"),
                     1);
}

/* Programs get each class; people one notice. */
static void test_endpoints_for_people_get_one_notice_a_command(void **state)
{
    struct club *c = *state;

    (void)club_webhook(c, SOUTH, "https://hooks.example.org/program", WEBHOOK_STANDARD, "");
    (void)club_webhook(c, SOUTH, "https://hooks.example.org/chat", WEBHOOK_SLACK, "");
    (void)game_start(c->t, "verney");
    assert_hooks(c, 0, "anna:started anna:turn anna:turn");
}

/* N2: no number of games after which notices stop.  All in one command, for one commit. */
static enum status five_hundred_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct club *c = arg;
    struct arbiter_new_game wish = {.rules = "verney"};
    enum status st;

    for (int i = 0; i < 500; i++) {
        struct game_row game;

        st = arbiter_create(&c->t->arb, txn, now, player(c->t, ORGANISER), &wish, &game, err);
        for (int seat = 0; st == ST_OK && seat < SEATS; seat++)
            st = arbiter_join(&c->t->arb, txn, now, player(c->t, seat), game.id, 1u << seat,
                              NULL, err);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static void test_the_five_hundredth_game_is_told_too(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;

    c->t->arb.limits.open_games = 1000;
    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){
                             .name = "many", .run = five_hundred_run, .arg = c},
                         &err),
              err);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'turn'"), 500);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'started'"), 1500);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_each_turn_causes_one_letter_to_the_mover),
        TEST(test_an_intent_of_an_undone_command_is_not_there),
        TEST(test_who_plays_two_seats_gets_one_letter),
        TEST(test_switches_are_by_class_and_channel),
        TEST(test_login_and_security_letters_cannot_be_switched_off),
        TEST(test_a_result_is_told_to_all_and_once),
        TEST(test_a_forfeit_is_told_to_all_four),
        TEST(test_warnings_go_to_the_mover_and_the_organisers_to_him),
        TEST(test_a_mate_and_its_release_are_told_to_all),
        TEST(test_draw_offers_and_answers_go_to_the_others),
        TEST(test_invitations_go_to_who_is_invited_and_answers_to_the_organiser),
        TEST(test_placing_is_asked_of_each_who_has_not_placed),
        TEST(test_a_turn_that_has_passed_on_is_superseded),
        TEST(test_a_shared_endpoint_gets_an_event_once),
        TEST(test_endpoints_for_people_get_one_notice_a_command),
        TEST(test_the_five_hundredth_game_is_told_too),
    };

    return cmocka_run_group_tests_name("notify/intents", tests, NULL, NULL);
}
