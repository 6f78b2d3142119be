/* Registering, invitations, and the secrets that letters carry. */
#include "people/people.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "clock/zone.h"
#include "people/letters.h"
#include "store/audit.h"
#include "store/games.h"

enum status letter_put(struct store_txn *txn, const struct letter_wish *wish, utc_ms now,
                       struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    char params[80] = "{}";

    if (wish->about)
        (void)snprintf(params, sizeof params, "{\"%s\":%" PRId64 "}", wish->about,
                       wish->about_id);
    /* A row has one letter of a template; what has no row is told once a millisecond. */
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "%s:%" PRId64 ":%" PRId64,
                   wish->template_name, wish->about ? wish->about_id : wish->user_id,
                   wish->about ? 0 : now);
    intent.cls = wish->cls;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, wish->template_name);
    intent.user_id = wish->user_id;
    (void)str_copy(intent.address, sizeof intent.address, wish->address ? wish->address : "");
    intent.params = params;
    intent.due_at = now;
    intent.created_at = now;
    intent.expires_at = wish->expires_at;
    return outbox_put(txn, &intent, NULL, err);
}

void secret_hash_of_none(const struct people *p, unsigned char ret[DIGEST_SIZE])
{
    char secret[SECRET_SIZE];

    secret_make(p, secret);
    secret_hash(secret, ret);
}

enum status people_address_check(const struct people *p, const char *address, struct err *err)
{
    enum status st = address_is_fit(address, err);

    if (st == ST_OK && p->is_own_address && p->is_own_address(address, p->is_own_address_arg))
        st = err_detail(err, REASON_BAD_FIELD, "refusal.own_address",
                        "this is an address of the server's own");
    return st;
}

/* All parts of an account that stand in both a registration and an order of the operator. */
static enum status account_check(const struct people *p, const char *handle, const char *name,
                                 const char *address, const char *zone, const char *language,
                                 struct err *err)
{
    const struct zone *found;
    enum status st = handle_is_fit(handle, err);

    if (st == ST_OK && name)
        st = name_is_fit(name, err);
    if (st == ST_OK && address)
        st = people_address_check(p, address, err);
    if (st == ST_OK && language)
        st = language_is_fit(language, p->languages, err);
    if (st == ST_OK && zone)
        st = zone_cache_get(p->zones, zone, &found, err);
    return st;
}

/* ------------------------------------------------------------------------------- the door */

/* The invite that secret is of, or 0 in *ret_invite for a mailed invitation to a game, which lets
 * its own address in.  address_key NULL: it is not known yet. */
static enum status invitation_check(struct store_conn *conn, const char *secret,
                                    const char *address_key, utc_ms now, int64_t *ret_invite,
                                    struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    struct invite_row invite;
    struct invitation_row game;
    char invite_key[ADDRESS_MAX + 1];
    enum status st;

    if (!secret || !secret_is_shaped(secret))
        return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_needed",
                          "an invitation is needed to register here");
    secret_hash(secret, hash);
    st = invites_find(conn, hash, &invite, err);
    if (st == ST_OK) {
        if (invite.used_by || invite.revoked_at != UTC_NONE || invite.expires_at <= now)
            return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_gone",
                              "this invitation has been used, taken back or has expired");
        address_fold(invite.address, invite_key);
        if (invite.address[0] && address_key && !str_eq(invite_key, address_key))
            return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_other",
                              "this invitation is for another address");
        *ret_invite = invite.id;
        return ST_OK;
    }
    if (st != ST_NOT_FOUND)
        return st;
    st = invitations_find(conn, hash, &game, err);
    if (st == ST_NOT_FOUND)
        return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_foreign",
                          "this invitation is none of ours");
    if (st != ST_OK)
        return st;
    if (game.state != INVITATION_PENDING || game.expires_at <= now)
        return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_answered",
                          "this invitation has been answered or has expired");
    if (address_key && !str_eq(game.address_key, address_key))
        return err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_other",
                          "this invitation is for another address");
    *ret_invite = 0;
    return ST_OK;
}

static enum status door_check(const struct people *p, struct store_conn *conn,
                              const char *invitation, const char *address_key, utc_ms now,
                              int64_t *ret_invite, struct err *err)
{
    *ret_invite = 0;
    switch (p->door) {
    case DOOR_OPEN:
        return ST_OK;
    case DOOR_INVITE:
        return invitation_check(conn, invitation, address_key, now, ret_invite, err);
    case DOOR_CLOSED:
        break;
    }
    return err_detail(err, REASON_REGISTRATION_CLOSED, "refusal.registration_closed",
                      "registration is closed here; the operator makes accounts");
}

enum status people_register(const struct people *p, struct store_txn *txn,
                            const struct people_wish *wish, utc_ms now, struct err *err)
{
    struct store_conn *conn = store_txn_conn(txn);
    struct registration_row row = {.used_at = UTC_NONE};
    struct user_row user;
    unsigned char hash[DIGEST_SIZE];
    char language[LANGUAGE_MAX + 1];
    int64_t n, id;
    enum status st;

    TRY(account_check(p, wish->handle, wish->name, wish->address, wish->zone, wish->language, err));
    if (!wish->address)
        return err_detail(err, REASON_MISSING_FIELD, "refusal.register_address",
                          "an address is needed to register");
    address_fold(wish->address, row.address_key);
    TRY(door_check(p, conn, wish->invitation, row.address_key, now, &row.invite_id, err));
    handle_fold(wish->handle, row.handle_key);
    st = users_find_handle(conn, row.handle_key, &user, err);
    if (st == ST_OK)
        return ERR_DETAIL(err, REASON_HANDLE_TAKEN, "refusal.handle_taken",
                          "the handle {handle} is taken", ERR_TEXT("handle", user.handle));
    if (st != ST_NOT_FOUND)
        return st;
    TRY(registrations_count(conn, NULL, now - MS_HOUR, &n, err));
    if (n >= p->accounts_an_hour)
        return err_detail(err, REASON_RATE_LIMIT, "refusal.registrations_many",
                          "too many accounts are being made; try again in an hour");

    st = users_find_address(conn, row.address_key, &user, err);
    if (st == ST_OK) /* tell the owner, and nobody else, that there is an account */
        return login_letter_put(p, txn, &user, "register_known", now, err);
    if (st != ST_NOT_FOUND)
        return st;
    TRY(registrations_count(conn, row.address_key, now - MS_HOUR, &n, err));
    if (n >= p->letters_an_hour)
        return ST_OK; /* as if a letter went */

    (void)str_copy(row.handle, sizeof row.handle, wish->handle);
    (void)str_copy(row.display_name, sizeof row.display_name,
                   wish->name ? wish->name : wish->handle);
    (void)str_copy(row.zone, sizeof row.zone, wish->zone ? wish->zone : p->default_zone);
    language_fold(wish->language ? wish->language : p->default_language, language);
    (void)str_copy(row.language, sizeof row.language, language);
    (void)str_copy(row.address, sizeof row.address, wish->address);
    row.created_at = now;
    row.expires_at = now + REGISTRATION_LIFE_MS;
    secret_hash_of_none(p, hash);
    TRY(registrations_create(txn, &row, hash, &id, err));
    return letter_put(txn,
                      &(struct letter_wish){.cls = NOTICE_LOGIN,
                                            .template_name = "register",
                                            .address = row.address,
                                            .about = "registration",
                                            .about_id = id,
                                            .expires_at = row.expires_at},
                      now, err);
}

enum status people_invite(const struct people *p, struct store_txn *txn, int64_t by_user,
                          const char *address, const char *note, utc_ms now,
                          char ret_secret[SECRET_SIZE], struct err *err)
{
    struct user_row user;
    unsigned char hash[DIGEST_SIZE];
    char secret[SECRET_SIZE];
    int64_t id;
    enum status st = users_get(store_txn_conn(txn), by_user, &user, err);

    if (st == ST_OK)
        st = people_is_open(&user, err);
    if (st == ST_OK && address)
        st = people_address_check(p, address, err);
    if (st == ST_OK && note &&
        (strlen(note) >= INVITE_NOTE_SIZE || !utf8_is_valid(note, strlen(note))))
        st = ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.invite_note",
                        "a note is UTF-8 text of at most {most} bytes",
                        ERR_NUMBER("most", INVITE_NOTE_SIZE - 1));
    if (st != ST_OK)
        return st;
    secret_make(p, secret);
    secret_hash(secret, hash);
    st = invites_create(txn, by_user, address, note ? note : "", hash, now, now + INVITE_LIFE_MS,
                        &id, err);
    if (st == ST_OK)
        memcpy(ret_secret, secret, sizeof secret);
    return st;
}

/* ------------------------------------------------------------------------------- minting */

static enum status link_is_over(struct err *err)
{
    return err_reason(err, REASON_LINK_EXPIRED, "this link has been used or has expired");
}

static enum status mint_login(struct store_txn *txn, int64_t id, const unsigned char *hash,
                              utc_ms now, struct err *err)
{
    struct store_conn *conn = store_txn_conn(txn);
    struct login_link_row link;
    struct user_row user;
    enum status st = login_links_get(conn, id, &link, err);

    if (st == ST_OK)
        st = users_get(conn, link.user_id, &user, err);
    if (st != ST_OK)
        return st;
    if (link.used_at != UTC_NONE || link.expires_at <= now || user.disabled_at != UTC_NONE)
        return link_is_over(err);
    return login_links_set_token(txn, id, hash, now + LINK_LIFE_MS, err);
}

static enum status mint_registration(struct store_txn *txn, int64_t id, const unsigned char *hash,
                                     utc_ms now, struct err *err)
{
    struct registration_row row;
    enum status st = registrations_get(store_txn_conn(txn), id, &row, err);

    if (st != ST_OK)
        return st;
    if (row.used_at != UTC_NONE || row.expires_at <= now)
        return link_is_over(err);
    return registrations_set_token(txn, id, hash, now + REGISTRATION_LIFE_MS, err);
}

static enum status mint_address(struct store_txn *txn, int64_t id, bool is_old,
                                const unsigned char *hash, utc_ms now, struct err *err)
{
    struct address_change_row row;
    enum status st = address_changes_get(store_txn_conn(txn), id, &row, err);

    if (st != ST_OK)
        return st;
    if (row.state != ADDRESS_CHANGE_PENDING || row.expires_at <= now)
        return link_is_over(err);
    return address_changes_set_token(txn, id, is_old, hash, err);
}

enum status people_mint(const struct people *p, struct store_txn *txn, enum people_link kind,
                        int64_t row_id, utc_ms now, char ret_secret[SECRET_SIZE], struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    char secret[SECRET_SIZE];
    enum status st = ST_INTERNAL;

    secret_make(p, secret);
    secret_hash(secret, hash);
    switch (kind) {
    case LINK_LOGIN:
        st = mint_login(txn, row_id, hash, now, err);
        break;
    case LINK_REGISTRATION:
        st = mint_registration(txn, row_id, hash, now, err);
        break;
    case LINK_ADDRESS_OLD:
    case LINK_ADDRESS_NEW:
        st = mint_address(txn, row_id, kind == LINK_ADDRESS_OLD, hash, now, err);
        break;
    }
    if (st == ST_NOT_FOUND)
        st = link_is_over(err); /* purged */
    if (st == ST_OK)
        memcpy(ret_secret, secret, sizeof secret);
    return st;
}

enum status people_link_peek(struct store_conn *conn, const char *secret, utc_ms now,
                             struct people_link_info *ret, struct err *err)
{
    struct people_link_info info = {.kind = LINK_LOGIN};
    unsigned char hash[DIGEST_SIZE];
    struct login_link_row link;
    struct registration_row registration;
    struct address_change_row change;
    struct user_row user;
    bool is_old, is_over;
    enum status st;

    if (!secret_is_shaped(secret))
        return link_is_over(err);
    secret_hash(secret, hash);
    st = login_links_find(conn, hash, &link, err);
    if (st == ST_OK) {
        is_over = link.used_at != UTC_NONE || link.expires_at <= now;
        st = users_get(conn, link.user_id, &user, err);
    } else if (st == ST_NOT_FOUND &&
               (st = registrations_find(conn, hash, &registration, err)) == ST_OK) {
        info.kind = LINK_REGISTRATION;
        is_over = registration.used_at != UTC_NONE || registration.expires_at <= now;
        (void)str_copy(user.handle, sizeof user.handle, registration.handle);
        (void)str_copy(user.language, sizeof user.language, registration.language);
        user.disabled_at = UTC_NONE;
    } else if (st == ST_NOT_FOUND &&
               (st = address_changes_find(conn, hash, &change, &is_old, err)) == ST_OK) {
        info.kind = is_old ? LINK_ADDRESS_OLD : LINK_ADDRESS_NEW;
        is_over = change.state != ADDRESS_CHANGE_PENDING || change.expires_at <= now;
        st = users_get(conn, change.user_id, &user, err);
    } else if (st == ST_NOT_FOUND) {
        return link_is_over(err);
    } else {
        return st;
    }
    if (st != ST_OK)
        return st;
    if (is_over || user.disabled_at != UTC_NONE)
        return link_is_over(err);
    (void)str_copy(info.handle, sizeof info.handle, user.handle);
    (void)str_copy(info.language, sizeof info.language, user.language);
    *ret = info;
    return ST_OK;
}

/* ------------------------------------------------------------------------------- the operator */

static enum status audit_put(struct store_txn *txn, int64_t by_user, const char *act,
                             int64_t subject, const char *detail, utc_ms now, struct err *err)
{
    struct audit_row row = {.at = now, .user_id = by_user, .subject_id = subject};

    row.role = by_user ? AUDIT_OPERATOR : AUDIT_ADMINISTRATOR;
    (void)str_copy(row.act, sizeof row.act, act);
    (void)str_copy(row.detail, sizeof row.detail, detail);
    return audit_add(txn, &row, err);
}

enum status people_add(const struct people *p, struct store_txn *txn,
                       const struct people_new *user, utc_ms now, int64_t *ret_id,
                       struct err *err)
{
    struct user_row row = {
        .verified_at = UTC_NONE, .bounced_at = UTC_NONE, .disabled_at = UTC_NONE};
    char language[LANGUAGE_MAX + 1];
    int64_t id;
    enum status st;

    TRY(account_check(p, user->handle, user->name, user->address, user->zone, user->language, err));
    (void)str_copy(row.handle, sizeof row.handle, user->handle);
    handle_fold(user->handle, row.handle_key);
    (void)str_copy(row.display_name, sizeof row.display_name,
                   user->name ? user->name : user->handle);
    (void)str_copy(row.zone, sizeof row.zone, user->zone ? user->zone : p->default_zone);
    language_fold(user->language ? user->language : p->default_language, language);
    (void)str_copy(row.language, sizeof row.language, language);
    row.is_operator = user->is_operator;
    if (user->password_hash &&
        !str_copy(row.password_hash, sizeof row.password_hash, user->password_hash))
        return err_set(err, ST_INTERNAL, "a password's hash is too long");
    if (user->address) {
        (void)str_copy(row.address, sizeof row.address, user->address);
        address_fold(user->address, row.address_key);
        if (user->is_verified)
            row.verified_at = now;
        /* Also of one that is not verified: his links would be the other account's. */
        st = users_find_address(store_txn_conn(txn), row.address_key, &(struct user_row){0}, err);
        if (st == ST_OK)
            return err_detail(err, REASON_ALREADY_DONE, "refusal.address_taken",
                              "another account has this mail address");
        if (st != ST_NOT_FOUND)
            return st;
    }
    st = users_create(txn, &row, now, &id, err);
    if (st == ST_OK)
        st = audit_put(txn, 0, "user_add", id, user->is_operator ? "operator" : "", now, err);
    if (st == ST_OK)
        *ret_id = id;
    return st;
}

enum status people_is_open(const struct user_row *user, struct err *err)
{
    return user->disabled_at == UTC_NONE
               ? ST_OK
               : ERR_DETAIL(err, REASON_FORBIDDEN, "refusal.account_disabled",
                            "the account {handle} is disabled", ERR_TEXT("handle", user->handle));
}

enum status people_disable(const struct people *p, struct store_txn *txn, int64_t by_user,
                           int64_t user_id, bool is_disabled, utc_ms now, struct err *err)
{
    struct user_row user;
    enum status st = users_get(store_txn_conn(txn), user_id, &user, err);

    (void)p;
    if (st != ST_OK)
        return st;
    if ((user.disabled_at != UTC_NONE) == is_disabled)
        return err_reason(err, REASON_ALREADY_DONE, "the account %s is %s already", user.handle,
                          is_disabled ? "disabled" : "open");
    st = users_set_disabled(txn, user_id, is_disabled, now, err);
    if (st == ST_OK)
        st = audit_put(txn, by_user, is_disabled ? "user_disable" : "user_enable", user_id, "",
                       now, err);
    return st;
}
