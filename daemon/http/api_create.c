/*
 * http/api_create.c - a new game: its rules, its time, and who is wanted at the table.
 */
#include <stdlib.h>
#include <string.h>

#include "http/game_acts.h"
#include "http/handlers.h"
#include "http/players.h"
#include "http/render.h"
#include "rules/rules.h"

struct create_data {
    struct arbiter_new_game wish;
    char rules[GAME_RULES_SIZE];
    struct seat_wish seats[SEAT_COUNT];
};

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
        (void)seat_wish_check_address(r, pointer, ret);
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

        value = json_object_get(seats, seat_words[i]);
        snprintf(pointer, sizeof pointer, "/seats/%s", seat_words[i]);
        if (value)
            read_seat(r, seat_words[i], value, &data->seats[i]);
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

        snprintf(pointer, sizeof pointer, "/seats/%s", seat_words[i]);
        st = seat_wish_offer(r, store_txn_conn(txn), pointer, &data->seats[i],
                             &data->wish.seats[i], err);
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
