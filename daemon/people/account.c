/* One's own account: profile, password, address. */
#include <string.h>

#include "base/str.h"
#include "clock/zone.h"
#include "people/letters.h"
#include "people/passwords.h"
#include "people/people.h"

enum status people_profile_set(const struct people *p, struct store_txn *txn, int64_t user_id,
                               const struct people_profile *profile, utc_ms now, struct err *err)
{
    const struct zone *zone;
    char language[LANGUAGE_MAX + 1];
    enum status st = ST_OK;

    if (profile->name)
        st = name_is_fit(profile->name, err);
    if (st == ST_OK && profile->language)
        st = language_is_fit(profile->language, p->languages, err);
    if (st == ST_OK && profile->zone)
        st = zone_cache_get(p->zones, profile->zone, &zone, err);
    if (st != ST_OK)
        return st;
    if (profile->language)
        language_fold(profile->language, language);
    return users_set_profile(txn, user_id, profile->name, profile->zone,
                             profile->language ? language : NULL, now, err);
}

enum status people_password_of(struct store_conn *conn, int64_t user_id, char *ret_hash,
                               size_t size, struct err *err)
{
    struct user_row user;
    enum status st = users_get(conn, user_id, &user, err);

    if (st == ST_OK)
        (void)str_copy(ret_hash, size, user.password_hash);
    return st;
}

enum status people_password_set(const struct people *p, struct store_txn *txn, int64_t user_id,
                                const char *old_hash, const char *new_hash, int64_t keep_session,
                                utc_ms now, struct err *err)
{
    struct user_row user;
    enum status st = users_get(store_txn_conn(txn), user_id, &user, err);

    (void)p;
    if (st != ST_OK)
        return st;
    if (!str_eq(user.password_hash, old_hash))
        return err_detail(err, REASON_BAD_CREDENTIALS, "refusal.password_changed",
                          "the password has been changed meanwhile");
    if (!new_hash && !user.password_hash[0])
        return ST_OK; /* none before, none now */
    st = users_set_password(txn, user_id, new_hash, now, err);
    if (st == ST_OK)
        st = sessions_revoke_all(txn, user_id, keep_session, now, err);
    if (st != ST_OK || !user.address[0])
        return st;
    return letter_put(txn,
                      &(struct letter_wish){.cls = NOTICE_SECURITY,
                                            .template_name = "password_changed",
                                            .user_id = user_id,
                                            .expires_at = now + 7 * MS_DAY},
                      now, err);
}

enum status people_address_change(const struct people *p, struct store_txn *txn, int64_t user_id,
                                  const char *address, utc_ms now, struct err *err)
{
    struct store_conn *conn = store_txn_conn(txn);
    unsigned char old_hash[DIGEST_SIZE], new_hash[DIGEST_SIZE];
    struct letter_wish letter = {.cls = NOTICE_SECURITY, .user_id = user_id, .about = "change"};
    struct user_row user, other;
    char key[ADDRESS_MAX + 1];
    bool has_old;
    int64_t n;
    enum status st = people_address_check(p, address, err);

    if (st == ST_OK)
        st = users_get(conn, user_id, &user, err);
    if (st != ST_OK)
        return st;
    address_fold(address, key);
    if (str_eq(key, user.address_key) && user.verified_at != UTC_NONE)
        return err_detail(err, REASON_ALREADY_DONE, "refusal.address_same",
                          "this is your address already");
    TRY(address_changes_count(conn, user_id, now - MS_HOUR, &n, err));
    if (n >= p->letters_an_hour)
        return err_detail(err, REASON_RATE_LIMIT, "refusal.address_often",
                          "the address was to be changed too often; try again in an hour");
    /* An address that was never proved has no say. */
    has_old = user.address[0] && user.verified_at != UTC_NONE;
    secret_hash_of_none(p, old_hash);
    secret_hash_of_none(p, new_hash);
    letter.expires_at = now + ADDRESS_CHANGE_LIFE_MS;
    st = address_changes_begin(txn, user_id, address, key, has_old ? old_hash : NULL, new_hash,
                               now, letter.expires_at, &letter.about_id, err);
    if (st == ST_OK && has_old) {
        letter.template_name = "address_old";
        letter.address = user.address;
        st = letter_put(txn, &letter, now, err);
    }
    if (st != ST_OK)
        return st;
    st = users_find_address(conn, key, &other, err);
    if (st == ST_OK)
        return ST_OK; /* somebody else's: no letter, and nobody is told why none comes */
    if (st != ST_NOT_FOUND)
        return st;
    letter.template_name = "address_new";
    letter.address = address;
    return letter_put(txn, &letter, now, err);
}

/* Both sides have agreed. */
static enum status address_swap(struct store_txn *txn, const struct address_change_row *change,
                                utc_ms now, struct err *err)
{
    struct user_row user;
    enum status st = users_get(store_txn_conn(txn), change->user_id, &user, err);

    if (st == ST_OK)
        st = users_set_address(txn, user.id, change->address, change->address_key, now, now, err);
    if (st == ST_OK)
        st = address_changes_settle(txn, change->id, ADDRESS_CHANGE_DONE, err);
    if (st != ST_OK || !change->has_old)
        return st;
    return letter_put(txn,
                      &(struct letter_wish){.cls = NOTICE_SECURITY,
                                            .template_name = "address_changed",
                                            .user_id = user.id,
                                            .address = user.address,
                                            .expires_at = now + 7 * MS_DAY},
                      now, err);
}

enum status people_address_confirm(const struct people *p, struct store_txn *txn,
                                   const char *secret, utc_ms now, bool *ret_complete,
                                   struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    struct address_change_row change;
    bool is_old, is_complete;
    enum status st = ST_NOT_FOUND;

    if (secret_is_shaped(secret)) {
        secret_hash(secret, hash);
        st = address_changes_find(store_txn_conn(txn), hash, &change, &is_old, err);
    }
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    if (st == ST_NOT_FOUND || change.state != ADDRESS_CHANGE_PENDING || change.expires_at <= now ||
        (is_old ? change.old_confirmed_at : change.new_confirmed_at) != UTC_NONE)
        return err_reason(err, REASON_LINK_EXPIRED, "this link has been used or has expired");
    TRY(address_changes_confirm(txn, change.id, is_old, now, err));
    is_complete = is_old ? change.new_confirmed_at != UTC_NONE
                         : !change.has_old || change.old_confirmed_at != UTC_NONE;
    if (is_complete)
        st = address_swap(txn, &change, now, err);
    if (st == ST_OK && is_complete && p->on_new_address)
        st = p->on_new_address(txn, change.user_id, now, p->on_new_address_arg, err);
    if (st == ST_OK)
        *ret_complete = is_complete;
    return st;
}

enum status people_address_pending(struct store_conn *conn, int64_t user_id, utc_ms now,
                                   char *ret_address, size_t size, struct err *err)
{
    struct address_change_row change;
    enum status st = address_changes_pending(conn, user_id, &change, err);

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    (void)str_copy(ret_address, size,
                   st == ST_OK && change.expires_at > now ? change.address : "");
    return ST_OK;
}
