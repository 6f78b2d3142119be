#include "arbiter/desk.h"
#include "store/outbox.h"

/* The player on turn has been told of it at `until` first, or not even then: what he is given for
 * that in addition to what he has been given; 0 is nothing. */
static enum status delivery_give(struct desk *d, utc_ms until, int64_t *ret_ms, struct err *err)
{
    struct clock_fact_row rows[TURN_FACTS_MAX];
    int64_t ms = 0;
    size_t n = 0;

    *ret_ms = 0;
    TRY(turn_ran(d->conn, &d->game, d->game.turn_at, until, &ms, err));
    if (ms <= ARBITER_DELIVERY_MS)
        return ST_OK;
    if (ms > ARBITER_DELIVERY_CAP_MS)
        ms = ARBITER_DELIVERY_CAP_MS;
    TRY(turn_facts(d->conn, &d->game, rows, &n, err));
    for (size_t i = 0; i < n; i++) {
        if (rows[i].kind == CLOCK_FACT_DELIVERY)
            ms -= rows[i].amount_ms;
    }
    if (ms <= 0)
        return ST_OK;
    TRY(turn_give(d, CLOCK_FACT_DELIVERY, ms, d->game.turn_at, err));
    *ret_ms = ms;
    return ST_OK;
}

/* What is known of the letters of the turn that is on, and the state number that it began with. */
static enum status handover(struct desk *d, struct outbox_handover *ret, int64_t *ret_first_state,
                            struct err *err)
{
    int64_t since = 0;

    TRY(turn_first_state(d, &since, ret_first_state, err));
    return outbox_handover(d->conn, d->game.id, d->game.turn_user_id, since, *ret_first_state,
                           ret, err);
}

enum status delivery_give_waiting(struct desk *d, int64_t *ret_ms, struct err *err)
{
    struct outbox_handover told;
    int64_t first_state = 0;

    *ret_ms = 0;
    if (d->now - d->game.turn_at <= ARBITER_DELIVERY_MS)
        return ST_OK;
    TRY(handover(d, &told, &first_state, err));
    if (!told.is_wanted || told.first_at != UTC_NONE)
        return ST_OK;
    return delivery_give(d, d->now, ret_ms, err);
}

enum status arbiter_handed_over(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                int64_t game_id, int64_t user_id, int64_t state_no,
                                utc_ms sent_at, int64_t *ret_credited_ms, struct err *err)
{
    static const struct arbiter_actor the_server = {.user_id = 0};
    struct outbox_handover told;
    int64_t first_state = 0, ms = 0;
    struct desk d;

    if (sent_at > now)
        sent_at = now;
    TRY(desk_open(&d, arb, txn, now, the_server, game_id, err));
    if (d.game.state == GAME_RUNNING && d.game.turn_user_id == user_id &&
        sent_at - d.game.turn_at > ARBITER_DELIVERY_MS) {
        TRY(handover(&d, &told, &first_state, err));
        if (state_no >= first_state && (told.first_at == UTC_NONE || told.first_at >= sent_at))
            TRY(delivery_give(&d, sent_at, &ms, err));
    }
    if (ms > 0)
        TRY(desk_close(&d, NULL, err));
    if (ret_credited_ms)
        *ret_credited_ms = ms;
    return ST_OK;
}
