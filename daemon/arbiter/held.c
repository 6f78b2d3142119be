#include "arbiter/desk.h"

enum status arbiter_hold(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         const char *text, bool with_draw, int64_t inbox_id, utc_ms release_at,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    (void)arb, (void)txn, (void)now, (void)actor, (void)act, (void)text, (void)with_draw;
    (void)inbox_id, (void)release_at, (void)ret_held, (void)ret_game;
    return err_set(err, ST_INTERNAL, "moves are not held yet");
}

enum status arbiter_undo(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    (void)arb, (void)txn, (void)now, (void)actor, (void)act, (void)ret_held, (void)ret_game;
    return err_reason(err, REASON_NOTHING_HELD, "there is no move to take back");
}

enum status arbiter_handed_over(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                int64_t game_id, int64_t user_id, int64_t state_no,
                                utc_ms sent_at, int64_t *ret_credited_ms, struct err *err)
{
    (void)arb, (void)txn, (void)now, (void)game_id, (void)user_id, (void)state_no;
    (void)sent_at, (void)err;
    if (ret_credited_ms)
        *ret_credited_ms = 0;
    return ST_OK;
}
