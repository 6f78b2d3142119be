/*
 * http/api_games.c - games from the wish to have one until they begin, and what the organiser does.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "arbiter/arbiter.h"
#include "http/game_acts.h"
#include "http/handlers.h"
#include "http/render.h"
#include "rules/rules.h"
#include "store/users.h"

enum { PAGE_MAX = 100, PAGE_DEFAULT = 50 };

static const char *const seat_names[SEAT_COUNT] = {"south", "west", "north", "east"};

/* ------------------------------------------------------------------------------ what acts share */

struct arbiter_actor request_actor(const struct request *r)
{
    return viewer_actor(request_viewer(r));
}

enum status act_game(struct request *r, struct store_txn *txn, int64_t *ret_id, struct err *err)
{
    return strlen(r->params[0]) == GAME_PUBLIC_ID_SIZE - 1
               ? games_find_id(store_txn_conn(txn), r->params[0], ret_id, err)
               : err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
}

/* Whoever was refused because the game has moved on gets to see where it is now. */
static void show_game(struct request *r, struct store_conn *conn)
{
    struct game_view *view = malloc(sizeof *view);
    struct err ignored = ERR_INIT;
    json_t *root = NULL;

    if (view &&
        game_view_find(conn, r->params[0], request_viewer(r), view, &ignored) == ST_OK &&
        render_game(conn, view, request_viewer(r), &root, &ignored) == ST_OK) {
        json_decref(r->problem_game);
        r->problem_game = root;
    }
    free(view);
}

enum status act_answer(struct request *r, struct store_txn *txn, enum status st,
                       const struct game_row *game, struct err *err)
{
    if (st == ST_CONFLICT)
        show_game(r, store_txn_conn(txn));
    if (st != ST_OK)
        return st;
    return answer_game(r, store_txn_conn(txn), 200, game, err);
}

/* ------------------------------------------------------------------------------ people */

enum status get_user_read(struct request *r, struct err *err)
{
    struct user_row *user = calloc(1, sizeof *user);
    struct store_conn *conn = NULL;
    char key[HANDLE_MAX + 1], games[96];
    enum status st;

    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a profile");
    if (strlen(r->params[0]) > HANDLE_MAX) {
        st = err_reason(err, REASON_NO_SUCH_USER, "there is no such player");
        goto out;
    }
    handle_fold(r->params[0], key);
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = users_find_handle(conn, key, user, err);
    if (st != ST_OK)
        goto out;
    snprintf(games, sizeof games, "/api/v1/games?player=%s", user->handle);
    st = answer_json(r, 200,
                     json_pack("{s:s, s:s, s:b, s:o, s:{s:s}}", "handle", user->handle, "name",
                               user->display_name, "disabled", user->disabled_at != UTC_NONE,
                               "created_at", render_instant(user->created_at), "links", "games",
                               games),
                     err);
out:
    free(user);
    return st;
}

/* ------------------------------------------------------------------------------ lists */

static enum status find_handle(struct store_conn *conn, const char *handle, int64_t *ret_id,
                               struct err *err)
{
    struct user_row *user;
    char key[HANDLE_MAX + 1];
    enum status st;

    if (strlen(handle) > HANDLE_MAX)
        return err_reason(err, REASON_NO_SUCH_USER, "there is no such player");
    user = calloc(1, sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a player");
    handle_fold(handle, key);
    st = users_find_handle(conn, key, user, err);
    if (st == ST_OK)
        *ret_id = user->id;
    free(user);
    return st;
}

/* What of the query can be judged by itself; faults are noted. */
static void read_filter(struct request *r, struct game_filter *filter)
{
    const char *states[GAME_STATE_COUNT_], *variants[GAME_VARIANT_COUNT_];
    static const char *const me[] = {"me"};
    bool is_over;
    int word;

    for (int i = 0; i < GAME_STATE_COUNT_; i++)
        states[i] = game_state_str((enum game_state)i);
    for (int i = 0; i < GAME_VARIANT_COUNT_; i++)
        variants[i] = game_variant_str((enum game_variant)i);
    *filter = GAME_FILTER_INIT;
    filter->viewer_id = r->who.user_id;
    filter->sees_all = r->who.is_operator;
    request_query_word(r, "state", states, COUNT_OF(states), &word);
    filter->state = word < 0 ? GAME_ANY : word;
    request_query_word(r, "variant", variants, COUNT_OF(variants), &word);
    filter->variant = word < 0 ? GAME_ANY : word;
    request_query_word(r, "turn", me, COUNT_OF(me), &word);
    if (word == 0)
        filter->turn_user_id = r->who.user_id;
    request_query_word(r, "invited", me, COUNT_OF(me), &word);
    if (word == 0)
        filter->invited_user_id = r->who.user_id;
    request_query_bool(r, "open", false, &filter->joinable);
    request_query_bool(r, "over", false, &is_over);
    if (!request_query(r, "over"))
        return;
    filter->over = is_over;
    if (!request_query(r, "player"))
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "over", "refusal.goes_with",
                   "goes only together with `{name}`", ERR_TEXT("name", "player"));
}

/* Who is meant, which needs an account or the store. */
static enum status find_people(struct request *r, struct store_conn *conn,
                               struct game_filter *filter, struct err *err)
{
    const char *player = request_query(r, "player");
    bool is_me = player && strcmp(player, "me") == 0;

    if ((is_me || request_query(r, "turn") || request_query(r, "invited")) &&
        !request_is_logged_in(r))
        return err_detail(err, REASON_LOGIN_NEEDED, "refusal.who_is_me",
                          "`me` is nobody yet: log in, or send an API token");
    if (is_me)
        filter->player_id = r->who.user_id;
    else if (player)
        return find_handle(conn, player, &filter->player_id, err);
    return ST_OK;
}

/* "ID" or "ID.DEADLINE", opaque to whoever gets it. */
static bool read_cursor(const char *text, struct game_cursor *ret)
{
    char id[24];
    size_t n = strcspn(text, ".");
    int64_t key = 0;

    if (n == 0 || n >= sizeof id)
        return false;
    memcpy(id, text, n);
    id[n] = '\0';
    if (!str_to_int64(id, 1, INT64_MAX, &ret->id))
        return false;
    if (text[n] == '.' && !str_to_int64(text + n + 1, INT64_MIN, INT64_MAX, &key))
        return false;
    ret->key_at = key;
    return true;
}

/* A list's games as the viewer sees them. */
static enum status render_list(struct store_conn *conn, const struct game_brief *rows, size_t n,
                               struct viewer viewer, json_t **ret, struct err *err)
{
    struct game_row *game = calloc(1, sizeof *game);
    json_t *items = json_array();
    enum status st = ST_OK;

    if (!game)
        st = err_reason(err, REASON_NO_MEMORY, "games");
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        unsigned invited = 0;
        bool has_kept = false;

        for (int seat = 0; seat < SEAT_COUNT; seat++)
            has_kept = has_kept || rows[i].seats[seat].state == SEAT_INVITED;
        if (has_kept) {
            game->id = rows[i].id;
            game->state = rows[i].state;
            st = arbiter_invited(conn, game, viewer.user_id, &invited, err);
        }
        if (st == ST_OK)
            json_array_append_new(items, render_summary(&rows[i], viewer, invited));
    }
    free(game);
    if (st == ST_OK)
        *ret = items;
    else
        json_decref(items);
    return st;
}

/* Where the next page is: the same query with another cursor. */
static void link_next(struct request *r, const char *next)
{
    char link[512];
    size_t used = (size_t)snprintf(link, sizeof link, "</api/v1/games?after=%s", next);

    for (size_t i = 0; i < r->n_query && used < sizeof link; i++) {
        const char *value = r->query[i].value;

        if (strcmp(r->query[i].name, "after") == 0)
            continue;
        /* Whatever got so far holds nothing that would need escaping. */
        if (value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-")])
            return;
        used += (size_t)snprintf(link + used, sizeof link - used, "&%s=%s", r->query[i].name,
                                 value);
    }
    if (used + 16 > sizeof link)
        return;
    snprintf(link + used, sizeof link - used, ">; rel=\"next\"");
    answer_header(r, "Link", link);
}

enum status list_games_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"player", "state", "over",  "turn",  "invited",
                                        "variant", "open", "limit", "after", NULL};
    struct game_brief *rows = NULL;
    struct store_conn *conn = NULL;
    struct game_filter filter;
    struct game_cursor from = {.id = 0}, next = {.id = 0};
    const char *after = request_query(r, "after");
    char cursor[64] = "";
    int64_t limit;
    json_t *items = NULL;
    size_t n = 0;
    enum status st;

    request_query_only(r, names);
    request_query_int(r, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit);
    if (after && !read_cursor(after, &from))
        form_error(&r->form, REASON_BAD_CURSOR, "after", "refusal.bad_cursor",
                   "`after` must be the `next` of the page before");
    read_filter(r, &filter);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_people(r, conn, &filter, err);
    if (st != ST_OK)
        return st;
    rows = calloc((size_t)limit, sizeof *rows);
    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "games");
    st = games_list(conn, &filter, &from, rows, (size_t)limit, &n, &next, err);
    if (st == ST_OK)
        st = render_list(conn, rows, n, request_viewer(r), &items, err);
    if (st == ST_OK) {
        if (next.id) {
            snprintf(cursor, sizeof cursor, "%" PRId64 ".%" PRId64, next.id, next.key_at);
            link_next(r, cursor);
        }
        st = answer_json(r, 200,
                         json_pack("{s:o, s:o}", "items", items, "next", render_text(cursor)),
                         err);
    }
    free(rows);
    return st;
}

enum status get_game_read(struct request *r, struct err *err)
{
    struct cache_key key = {.user_id = r->who.user_id, .is_operator = r->who.is_operator};
    int64_t now_ms = http_now_ms(r->http);
    struct game_view *view;
    struct store_conn *conn = NULL;
    char etag[CACHE_ETAG_SIZE];
    enum status st;

    if (!str_copy(key.public_id, sizeof key.public_id, r->params[0]))
        return err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    if (cache_get(r->http->cache, &key, now_ms, &r->answer.body, etag)) {
        r->answer.status = 200;
        r->answer.type = "application/json";
        answer_header(r, "ETag", etag);
        return ST_OK;
    }
    buf_clear(&r->answer.body);
    view = malloc(sizeof *view);
    if (!view)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK)
        st = answer_view(r, conn, 200, view, err);
    if (st == ST_OK && answer_etag(r))
        cache_put(r->http->cache, &key, view->game.id, r->epoch, now_ms, r->answer.body.data,
                  r->answer.body.len, answer_etag(r));
    free(view);
    return st;
}

/* ------------------------------------------------------------------------------ a new one */

struct seat_wish {
    enum { WISH_ME, WISH_OPEN, WISH_HANDLE, WISH_ADDRESS } kind;
    const char *text;
    char key[ADDRESS_MAX + 1];
};

struct create_data {
    struct arbiter_new_game wish;
    char rules[GAME_RULES_SIZE];
    struct seat_wish seats[SEAT_COUNT];
};

/* One of handle and address; which is what `invite` takes too. */
static bool check_address(struct request *r, const char *pointer, struct seat_wish *wish)
{
    struct err why = ERR_INIT;

    if (people_address_check(r->http->options.people, wish->text, &why) != ST_OK) {
        form_refuse(&r->form, pointer, &why);
        return false;
    }
    address_fold(wish->text, wish->key);
    return true;
}

static void read_seat(struct request *r, const char *name, json_t *value, struct seat_wish *ret)
{
    struct form *form = &r->form;
    static const char *const kinds[] = {"me", "open", "handle", "address"};
    char pointer[64];
    const char *key;
    json_t *inner;
    int kind = -1;

    snprintf(pointer, sizeof pointer, "/seats/%s", name);
    if (!json_is_object(value) || json_object_size(value) != 1) {
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_be_seat",
                   "must be an object with one of `me`, `open`, `handle` and `address`");
        return;
    }
    json_object_foreach (value, key, inner) {
        for (int i = 0; i < (int)COUNT_OF(kinds); i++)
            if (strcmp(key, kinds[i]) == 0)
                kind = i;
        if (kind < 0) {
            form_error(form, REASON_UNKNOWN_FIELD, pointer, "refusal.must_be_seat",
                       "must be an object with one of `me`, `open`, `handle` and `address`");
            return;
        }
        if ((kind == WISH_ME || kind == WISH_OPEN) && !json_is_true(inner)) {
            FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.key_true",
                       "`{key}` must be `true`", ERR_TEXT("key", kinds[kind]));
            return;
        }
        if (kind >= WISH_HANDLE && !json_is_string(inner)) {
            FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.key_text",
                       "`{key}` must be a text", ERR_TEXT("key", kinds[kind]));
            return;
        }
        ret->text = json_string_value(inner);
    }
    ret->kind = kind == WISH_ME     ? WISH_ME
                : kind == WISH_OPEN ? WISH_OPEN
                : kind == WISH_HANDLE ? WISH_HANDLE
                                      : WISH_ADDRESS;
    if (ret->kind == WISH_ADDRESS)
        (void)check_address(r, pointer, ret);
}

/* Put the variant, its house rules and the reserve together as variant_parse() reads them. */
static void read_rules(struct form *form, struct create_data *data)
{
    static const char *const variants[] = {"verney", "fortress", "teams"};
    static const char *const reserves[] = {"random", "chosen", "usual"};
    int variant = -1, reserve = -1;
    json_t *house = form_any(form, "house_rules", 0, JSON_OBJECT), *value;
    struct variant_error error;
    struct variant parsed;
    const char *key;
    size_t used;

    form_word(form, "variant", FIELD_NEEDED, variants, COUNT_OF(variants), &variant);
    form_word(form, "reserve", 0, reserves, COUNT_OF(reserves), &reserve);
    if (variant < 0)
        return;
    used = (size_t)snprintf(data->rules, sizeof data->rules, "%s", variants[variant]);
    json_object_foreach (house, key, value) {
        char pointer[64], text[GAME_RULES_SIZE];
        const char *word = json_string_value(value);

        form_pointer(pointer, sizeof pointer, "/house_rules", key);
        if (strcmp(key, "reserve") == 0) {
            form_error(form, REASON_BAD_FIELD, pointer, "refusal.reserve_beside",
                       "is no house rule here: `reserve` is a field of its own beside "
                       "`house_rules`");
            continue;
        }
        if (strlen(key) > 16 || strpbrk(key, " =") ||
            (word && (strlen(word) > 16 || strpbrk(word, " =")))) {
            FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.no_house_rule",
                       "is no house rule of `{game}`", ERR_TEXT("game", variants[variant]));
            continue;
        }
        /* Of what is no text: whether there is such a rule at all. */
        snprintf(text, sizeof text, "%s %s=%s", variants[variant], key, word ? word : "?");
        if (!word && variant_parse(text, &parsed, &error) == VARIANT_BAD_VALUE) {
            form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_text", "must be a text");
            continue;
        }
        if (variant_parse(text, &parsed, &error) != VARIANT_OK) {
            struct err why = ERR_INIT;

            (void)arbiter_refuse_variant(&error, &why);
            form_refuse(form, pointer, &why);
            continue;
        }
        if (used < sizeof data->rules)
            used += (size_t)snprintf(data->rules + used, sizeof data->rules - used, " %s=%s", key,
                                     word);
    }
    if (reserve >= 0) {
        char text[GAME_RULES_SIZE];

        snprintf(text, sizeof text, "%s reserve=%s", variants[variant], reserves[reserve]);
        if (variant_parse(text, &parsed, NULL) != VARIANT_OK)
            FORM_ERROR(form, REASON_BAD_FIELD, "/reserve", "refusal.no_reserve",
                       "`{game}` has no reserve", ERR_TEXT("game", variants[variant]));
        else if (used < sizeof data->rules)
            used += (size_t)snprintf(data->rules + used, sizeof data->rules - used, " reserve=%s",
                                     reserves[reserve]);
    }
}

static void read_time(struct request *r, struct create_data *data)
{
    const struct arbiter_limits *limits = &r->http->options.arbiter->limits;
    json_t *time = form_any(&r->form, "time", 0, JSON_OBJECT), *value;
    const char *key;
    bool has_mode = false;

    if (!time)
        return;
    json_object_foreach (time, key, value) {
        if (strcmp(key, "mode") == 0) {
            has_mode = true;
            if (!json_is_string(value) || strcmp(json_string_value(value), "per-move") != 0)
                FORM_ERROR(&r->form, REASON_BAD_FIELD, "/time/mode", "refusal.must_be_one",
                           "must be one of `{list}`", ERR_TEXT("list", "per-move"));
        } else if (strcmp(key, "per_move_ms") == 0) {
            form_int_of(&r->form, "/time/per_move_ms", value, limits->per_move_min_ms,
                        limits->per_move_max_ms, &data->wish.per_move_ms);
        } else {
            form_error(&r->form, REASON_UNKNOWN_FIELD, "/time", "refusal.unknown_inside",
                       "holds a field not known here");
        }
    }
    if (!has_mode)
        form_error(&r->form, REASON_MISSING_FIELD, "/time/mode", "refusal.needed", "is needed");
}

enum status create_game_prepare(struct request *r, struct err *err)
{
    static const char *const sights[] = {"public", "players"};
    struct create_data *data = calloc(1, sizeof *data);
    json_t *seats, *value;
    const char *key;
    int sight = 0;

    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    r->data = data;
    r->data_free = free;
    read_rules(&r->form, data);
    read_time(r, data);
    form_bool(&r->form, "rated", &data->wish.is_rated);
    form_word(&r->form, "visibility", 0, sights, COUNT_OF(sights), &sight);
    form_bool(&r->form, "table_talk", &data->wish.table_talk);
    seats = form_any(&r->form, "seats", FIELD_NEEDED, JSON_OBJECT);
    for (int i = 0; i < SEAT_COUNT && seats; i++) {
        char pointer[32];

        value = json_object_get(seats, seat_names[i]);
        snprintf(pointer, sizeof pointer, "/seats/%s", seat_names[i]);
        if (value)
            read_seat(r, seat_names[i], value, &data->seats[i]);
        else
            form_error(&r->form, REASON_MISSING_FIELD, pointer, "refusal.needed", "is needed");
    }
    json_object_foreach (seats, key, value) {
        int seat;

        if (!parse_seat(key, &seat))
            form_error(&r->form, REASON_UNKNOWN_FIELD, "/seats", "refusal.unknown_seats",
                       "holds more than `south`, `west`, `north` and `east`");
    }
    data->wish.is_private = sight == 1;
    data->wish.rules = data->rules;
    return form_end(&r->form, err);
}

/* What the arbiter calls an offer. */
static enum status offer_of(struct request *r, struct store_conn *conn, const char *pointer,
                            const struct seat_wish *wish, struct arbiter_offer *ret,
                            struct err *err)
{
    struct err missing = ERR_INIT;
    enum status st;

    *ret = (struct arbiter_offer){.kind = OFFER_OPEN};
    switch (wish->kind) {
    case WISH_OPEN:
        return ST_OK;
    case WISH_ME:
        ret->kind = OFFER_USER;
        ret->user_id = r->who.user_id;
        return ST_OK;
    case WISH_HANDLE:
        ret->kind = OFFER_USER;
        st = find_handle(conn, wish->text, &ret->user_id, &missing);
        if (st == ST_NOT_FOUND) {
            form_error(&r->form, REASON_NO_SUCH_USER, pointer, "refusal.no_player",
                       "there is no player of that name");
            return form_end(&r->form, err);
        }
        if (st != ST_OK)
            *err = missing;
        return st;
    case WISH_ADDRESS:
        ret->kind = OFFER_MAIL;
        ret->address = wish->text;
        ret->address_key = wish->key;
        return ST_OK;
    }
    return ST_OK;
}

enum status create_game_act(struct request *r, struct store_txn *txn, utc_ms now,
                            struct err *err)
{
    struct create_data *data = r->data;
    struct game_row *game = malloc(sizeof *game);
    char location[64];
    enum status st = ST_OK;

    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    for (int i = 0; i < SEAT_COUNT && st == ST_OK; i++) {
        char pointer[32];

        snprintf(pointer, sizeof pointer, "/seats/%s", seat_names[i]);
        st = offer_of(r, store_txn_conn(txn), pointer, &data->seats[i], &data->wish.seats[i], err);
    }
    if (st == ST_OK)
        st = arbiter_create(r->http->options.arbiter, txn, now, request_actor(r), &data->wish,
                            game, err);
    if (st == ST_OK)
        st = answer_game(r, store_txn_conn(txn), 201, game, err);
    if (st == ST_OK) {
        snprintf(location, sizeof location, "/api/v1/games/%s", game->public_id);
        answer_header(r, "Location", location);
    }
    free(game);
    return st;
}

/* ------------------------------------------------------------------------------ seats */

struct seats_data {
    unsigned seats;
    int seat;
    struct seat_wish wish;
    const char *token;
    unsigned char token_hash[DIGEST_SIZE];
    struct arbiter_placement placement;
};

static struct seats_data *seats_data_of(struct request *r, struct err *err)
{
    r->data = calloc(1, sizeof(struct seats_data));
    r->data_free = free;
    if (!r->data)
        (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    return r->data;
}

enum status join_game_prepare(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    json_t *seats, *word;
    size_t i;

    if (!data)
        return err->code;
    seats = form_any(&r->form, "seats", FIELD_NEEDED, JSON_ARRAY);
    json_array_foreach (seats, i, word) {
        char pointer[32];
        int seat;

        snprintf(pointer, sizeof pointer, "/seats/%zu", i);
        if (!json_is_string(word) || !parse_seat(json_string_value(word), &seat))
            FORM_ERROR(&r->form, REASON_BAD_FIELD, pointer, "refusal.must_be_one",
                       "must be one of `{list}`", ERR_TEXT("list", "south, west, north, east"));
        else if (data->seats & 1u << seat)
            form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.twice", "is there twice");
        else
            data->seats |= 1u << seat;
    }
    if (seats && (json_array_size(seats) == 0 || json_array_size(seats) > 2))
        form_error(&r->form, REASON_BAD_FIELD, "/seats", "refusal.seats_count",
                   "must have one or two seats");
    return form_end(&r->form, err);
}

/* Every act on a game goes so: find it, ask the arbiter, show the game. */
#define ACT_ON_GAME(call)                                                                          \
    do {                                                                                           \
        const struct arbiter *arb = r->http->options.arbiter;                                      \
        struct game_row *game = malloc(sizeof *game);                                              \
        int64_t id = 0;                                                                            \
        enum status st = game ? act_game(r, txn, &id, err)                                         \
                              : err_reason(err, REASON_NO_MEMORY, "a game");                       \
                                                                                                   \
        if (st == ST_OK)                                                                           \
            st = act_answer(r, txn, call, game, err);                                              \
        free(game);                                                                                \
        return st;                                                                                 \
    } while (0)

enum status join_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_join(arb, txn, now, request_actor(r), id, data->seats, game, err));
}

enum status leave_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(arbiter_leave(arb, txn, now, request_actor(r), id, 0, game, err));
}

static enum status read_invitation(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    enum status st;

    if (!data)
        return err->code;
    form_str(&r->form, "token", 0, 1, 64, &data->token);
    st = form_end(&r->form, err);
    if (st == ST_OK && data->token) {
        if (!secret_is_shaped(data->token))
            return err_detail(err, REASON_LINK_EXPIRED, "refusal.invitation_foreign",
                              "this is no invitation of ours");
        secret_hash(data->token, data->token_hash);
    }
    return st;
}

enum status accept_invitation_prepare(struct request *r, struct err *err)
{
    return read_invitation(r, err);
}

enum status accept_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                  struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_accept(arb, txn, now, request_actor(r), id,
                               data->token ? data->token_hash : NULL, game, err));
}

enum status decline_invitation_prepare(struct request *r, struct err *err)
{
    enum status st = read_invitation(r, err);
    struct seats_data *data = r->data;

    if (st == ST_OK && !data->token && !request_is_logged_in(r))
        st = err_detail(err, REASON_LOGIN_NEEDED, "refusal.invitation_token",
                        "log in, or send the invitation's token");
    return st;
}

enum status decline_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                   struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_decline(arb, txn, now, request_actor(r), id,
                                data->token ? data->token_hash : NULL, game, err));
}

enum status invite_prepare(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    const char *handle = NULL, *address = NULL;

    if (!data)
        return err->code;
    data->seat = -1;
    form_word(&r->form, "seat", FIELD_NEEDED, seat_names, SEAT_COUNT, &data->seat);
    form_str(&r->form, "handle", 0, 1, HANDLE_MAX, &handle);
    form_str(&r->form, "address", 0, 3, ADDRESS_MAX, &address);
    if (form_has(&r->form, "handle") == form_has(&r->form, "address"))
        form_error(&r->form, REASON_MISSING_FIELD, "", "refusal.handle_or_address",
                   "one of `handle` and `address` is needed");
    data->wish.kind = handle ? WISH_HANDLE : WISH_ADDRESS;
    data->wish.text = handle ? handle : address;
    if (address)
        (void)check_address(r, "/address", &data->wish);
    return form_end(&r->form, err);
}

static enum status do_invite(struct request *r, const struct arbiter *arb, struct store_txn *txn,
                             utc_ms now, int64_t id, struct game_row *game, struct err *err)
{
    struct seats_data *data = r->data;
    struct arbiter_offer offer;
    enum status st = offer_of(r, store_txn_conn(txn), "/handle", &data->wish, &offer, err);

    if (st != ST_OK)
        return st;
    return arbiter_invite(arb, txn, now, request_actor(r), id, data->seat, &offer, game, err);
}

enum status invite_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(do_invite(r, arb, txn, now, id, game, err));
}

static enum status do_withdraw(struct request *r, const struct arbiter *arb,
                               struct store_txn *txn, utc_ms now, int64_t id,
                               struct game_row *game, struct err *err)
{
    int seat;

    if (!parse_seat(r->params[1], &seat)) {
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "seat", "refusal.must_be_one",
                   "must be one of `{list}`", ERR_TEXT("list", "south, west, north, east"));
        return form_end(&r->form, err);
    }
    return arbiter_withdraw(arb, txn, now, request_actor(r), id, seat, game, err);
}

enum status withdraw_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                    struct err *err)
{
    ACT_ON_GAME(do_withdraw(r, arb, txn, now, id, game, err));
}

/* ------------------------------------------------------------------------------ placing */

enum status get_placement_read(struct request *r, struct err *err)
{
    struct game_view *view = malloc(sizeof *view);
    struct store_conn *conn = NULL;
    json_t *seats;
    struct variant variant;
    enum status st;

    if (!view)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && view->game.reserve != GAME_RESERVE_CHOSEN)
        st = err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.no_placing",
                        "in this game nobody places his reserve himself");
    if (st == ST_OK && variant_parse(view->game.rules, &variant, NULL) != VARIANT_OK)
        st = err_reason(err, REASON_CORRUPT, "the rules of game %s cannot be read",
                        view->game.public_id);
    if (st != ST_OK)
        goto out;
    seats = json_array();
    for (int i = 0; i < SEAT_COUNT; i++) {
        const struct seat_row *seat = &view->seats[i];
        bool is_shown = seat->placement[0] &&
                        (view->game.started_at != UTC_NONE || seat->user_id == r->who.user_id);
        char rook[8] = "", bishop[8] = "", knight[8] = "";
        struct board own;
        json_t *squares = json_array();

        if (is_shown && sscanf(seat->placement, "%7s %7s %7s", rook, bishop, knight) != 3)
            rook[0] = bishop[0] = knight[0] = '\0';
        if (game_reserve_squares(variant.game, (enum seat)i, &own))
            for (int square; (square = board_take(&own)) != SQUARE_NONE;) {
                char text[SQUARE_TEXT_MAX];

                square_print(square, text);
                json_array_append_new(squares, json_string(text));
            }
        json_array_append_new(
            seats, json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "seat", render_seat(i), "placed",
                             seat->placed_at != UTC_NONE, "squares", squares, "rook",
                             render_text(rook), "bishop", render_text(bishop), "knight",
                             render_text(knight)));
    }
    st = answer_json(r, 200,
                     json_pack("{s:o, s:o}", "deadline",
                               render_instant(view->game.state == GAME_PLACING
                                                  ? view->game.deadline_at
                                                  : UTC_NONE),
                               "seats", seats),
                     err);
out:
    free(view);
    return st;
}

static void check_square(struct form *form, const char *pointer, const char *text)
{
    int square = SQUARE_NONE;

    if (text && square_read(text, strlen(text), &square) != strlen(text))
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_square",
                   "must be a square such as e2");
}

enum status place_prepare(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);

    if (!data)
        return err->code;
    data->placement.seat = ARBITER_ANY_SEAT;
    form_word(&r->form, "seat", 0, seat_names, SEAT_COUNT, &data->placement.seat);
    form_str(&r->form, "rook", FIELD_NEEDED, 2, 3, &data->placement.rook);
    form_str(&r->form, "bishop", FIELD_NEEDED, 2, 3, &data->placement.bishop);
    form_str(&r->form, "knight", FIELD_NEEDED, 2, 3, &data->placement.knight);
    check_square(&r->form, "/rook", data->placement.rook);
    check_square(&r->form, "/bishop", data->placement.bishop);
    check_square(&r->form, "/knight", data->placement.knight);
    return form_end(&r->form, err);
}

/* The arbiter names the square that the rules refuse; here it is every field that names it. */
static enum status do_place(struct request *r, const struct arbiter *arb, struct store_txn *txn,
                            utc_ms now, int64_t id, struct game_row *game, struct err *err)
{
    struct seats_data *data = r->data;
    const char *const names[] = {data->placement.rook, data->placement.bishop,
                                 data->placement.knight};
    static const char *const pointers[] = {"/rook", "/bishop", "/knight"};
    struct err why = ERR_INIT;
    enum status st =
        arbiter_place(arb, txn, now, request_actor(r), id, &data->placement, game, &why);

    if (st == ST_OK)
        return st;
    for (size_t i = 0; i < COUNT_OF(names) && why.reason == REASON_BAD_PLACEMENT; i++)
        if (why.n_args == 1 && str_case_eq(names[i], why.values + why.args[0].at))
            form_refuse(&r->form, pointers[i], &why);
    *err = why;
    return st;
}

enum status place_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(do_place(r, arb, txn, now, id, game, err));
}

/* ------------------------------------------------------------------------------ the organiser */

struct note_data {
    const char *note;
    utc_ms until;
    int64_t amount_ms;
    int result;
};

static struct note_data *read_note(struct request *r, struct err *err)
{
    struct note_data *data = calloc(1, sizeof *data);

    r->data = data;
    r->data_free = free;
    if (!data) {
        (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
        return NULL;
    }
    data->until = UTC_NONE;
    form_str(&r->form, "note", 0, 0, ARBITER_NOTE_MAX, &data->note);
    if (data->note && strlen(data->note) > ARBITER_NOTE_MAX)
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "/note", "refusal.must_bytes",
                   "must have at most {most} bytes", ERR_NUMBER("most", ARBITER_NOTE_MAX));
    for (const char *p = data->note; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f) {
            form_error(&r->form, REASON_BAD_FIELD, "/note", "refusal.note_line",
                       "a note is one line without control characters");
            break;
        }
    return data;
}

enum status abort_game_prepare(struct request *r, struct err *err)
{
    return read_note(r, err) ? form_end(&r->form, err) : err->code;
}

enum status abort_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct note_data *data = r->data;

    ACT_ON_GAME(arbiter_abort(arb, txn, now, request_actor(r), id, data->note, game, err));
}

enum status pause_game_prepare(struct request *r, struct err *err)
{
    struct note_data *data = read_note(r, err);

    if (!data)
        return err->code;
    form_instant(&r->form, "until", &data->until);
    return form_end(&r->form, err);
}

enum status pause_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct note_data *data = r->data;

    ACT_ON_GAME(
        arbiter_pause(arb, txn, now, request_actor(r), id, data->until, data->note, game, err));
}

enum status resume_game_prepare(struct request *r, struct err *err)
{
    return read_note(r, err) ? form_end(&r->form, err) : err->code;
}

enum status resume_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct note_data *data = r->data;

    ACT_ON_GAME(arbiter_resume(arb, txn, now, request_actor(r), id, data->note, game, err));
}

enum status credit_time_prepare(struct request *r, struct err *err)
{
    struct note_data *data = read_note(r, err);

    if (!data)
        return err->code;
    form_int(&r->form, "amount_ms", FIELD_NEEDED, MS_MINUTE,
             r->http->options.arbiter->limits.credit_max_ms, &data->amount_ms);
    return form_end(&r->form, err);
}

enum status credit_time_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct note_data *data = r->data;

    ACT_ON_GAME(arbiter_credit(arb, txn, now, request_actor(r), id, data->amount_ms, data->note,
                               game, err));
}

enum status adjudicate_game_prepare(struct request *r, struct err *err)
{
    static const char *const results[] = {"1-0",   "0-1",   "1/2-1/2",
                                          "team0", "team1", "draw"};
    struct note_data *data = read_note(r, err);

    if (!data)
        return err->code;
    form_word(&r->form, "result", FIELD_NEEDED, results, COUNT_OF(results), &data->result);
    return form_end(&r->form, err);
}

enum status adjudicate_game_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err)
{
    static const enum game_result results[] = {GAME_RESULT_TEAM0, GAME_RESULT_TEAM1,
                                               GAME_RESULT_DRAW};
    struct note_data *data = r->data;

    ACT_ON_GAME(arbiter_adjudicate(arb, txn, now, request_actor(r), id, results[data->result % 3],
                                   data->note, game, err));
}
