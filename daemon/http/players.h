/*
 * http/players.h - players as requests name them: by handle, by address, "me" or nobody yet.
 *
 * Ownership: texts of a wish are the body's.  Threads: as the request; player_…() wherever conn may
 * be used.
 */
#ifndef FH_HTTP_PLAYERS_H
#define FH_HTTP_PLAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "arbiter/arbiter.h"
#include "http/server.h"
#include "store/users.h"

/* By handle, of any case: REASON_NO_SUCH_USER. */
MUST_CHECK enum status player_find(struct store_conn *conn, const char *handle,
                                   struct user_row *ret, struct err *err);
MUST_CHECK enum status player_find_id(struct store_conn *conn, const char *handle,
                                      int64_t *ret_id, struct err *err);

/* Who is wanted for a seat. */
struct seat_wish {
    enum { WISH_ME, WISH_OPEN, WISH_HANDLE, WISH_ADDRESS } kind;
    const char *text;
    char key[ADDRESS_MAX + 1];
};

/* Whether the address of a wish is one, and fold it; else it is a fault of pointer. */
bool seat_wish_check_address(struct request *r, const char *pointer, struct seat_wish *wish);

/* What the arbiter calls an offer.  A player who is not there is a fault of pointer. */
MUST_CHECK enum status seat_wish_offer(struct request *r, struct store_conn *conn,
                                       const char *pointer, const struct seat_wish *wish,
                                       struct arbiter_offer *ret, struct err *err);

#endif
