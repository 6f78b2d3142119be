/*
 * http/api_service.c - what this server is, whether it is well, its words and its problems.
 */
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "http/handlers.h"
#include "http/render.h"
#include "store/writer.h"
#include "words/words.h"

enum status get_health_read(struct request *r, struct err *err)
{
    r->answer.cache = "no-store";
    return answer_json(r, 200, json_pack("{s:s}", "status", "ok"), err);
}

enum status get_readiness_read(struct request *r, struct err *err)
{
    struct http *http = r->http;
    struct store_conn *conn = NULL;
    struct writer_stats stats = writer_stats(http->options.writer);
    int64_t tally[GAME_STATE_COUNT_];
    enum status st;

    r->answer.cache = "no-store";
    if (!atomic_load(&http->is_ready) || atomic_load(&http->is_stopping))
        return err_detail(err, REASON_BUSY, "refusal.starting",
                          "the server is starting or stopping");
    if (stats.waiting > WRITER_QUEUE_MAX / 2)
        return err_detail(err, REASON_BUSY, "refusal.changes_wait",
                          "too many changes wait to be stored");
    if (stats.is_failing)
        return err_reason(err, REASON_STORE_FAILED, "the last change could not be stored");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = games_tally(conn, tally, err);
    if (st != ST_OK)
        return st;
    return answer_json(r, 200, json_pack("{s:s}", "status", "ok"), err);
}

/* ------------------------------------------------------------------------------ the service */

static json_t *squares_of(const struct game *game)
{
    json_t *list = json_array();
    char text[SQUARE_TEXT_MAX];

    for (int square = 0; square < SQUARES; square++)
        if (square_is_on_board(game, square)) {
            square_print(square, text);
            json_array_append_new(list, json_string(text));
        }
    return list;
}

/* Walls between squares side by side; those at corners follow from them. */
static json_t *walls_of(const struct game *game)
{
    json_t *list = json_array();
    char a[SQUARE_TEXT_MAX], b[SQUARE_TEXT_MAX];

    for (int square = 0; square < SQUARES; square++) {
        static const int steps[] = {1, 16};

        for (size_t i = 0; i < COUNT_OF(steps); i++) {
            int other = square + steps[i];

            if ((steps[i] == 1 && square_file(square) == 15) || other >= SQUARES ||
                !square_is_on_board(game, square) || !square_is_on_board(game, other) ||
                !game_has_wall(game, square, other))
                continue;
            square_print(square, a);
            square_print(other, b);
            json_array_append_new(list, json_pack("[s, s]", a, b));
        }
    }
    return list;
}

static json_t *variant_of(const struct game *game)
{
    struct variant variant;
    json_t *seats = json_array(), *house = json_object(), *reserves = json_array();
    const char *name = game_name(game);
    struct board fortress;

    for (int i = 0; i < SEAT_COUNT; i++) {
        char letter[2] = {seat_letter(game, (enum seat)i), '\0'};

        json_array_append_new(seats,
                              json_pack("{s:s, s:s, s:s, s:s}", "seat", render_seat(i), "side",
                                        render_side(i & 1), "colour", render_colour(game, i),
                                        "letter", letter));
    }
    /* A house rule is the game's when variant_parse() takes it. */
    static const struct {
        const char *key, *values[3];
    } keys[] = {{"inert", {"safe", "capturable"}},
                {"queens", {"light", "left"}},
                {"promotion", {"queen", "any"}}};
    for (size_t k = 0; k < COUNT_OF(keys); k++) {
        json_t *values = json_array();
        char text[64];

        for (size_t v = 0; v < COUNT_OF(keys[k].values) && keys[k].values[v]; v++) {
            snprintf(text, sizeof text, "%s %s=%s", name, keys[k].key, keys[k].values[v]);
            if (variant_parse(text, &variant, NULL) == VARIANT_OK)
                json_array_append_new(values, json_string(keys[k].values[v]));
        }
        if (json_array_size(values) > 0)
            json_object_set(house, keys[k].key, values);
        json_decref(values);
    }
    if (game_reserve_squares(game, SEAT_SOUTH, &fortress))
        for (int i = GAME_RESERVE_RANDOM; i <= GAME_RESERVE_USUAL; i++)
            json_array_append_new(reserves, json_string(game_reserve_str((enum game_reserve)i)));
    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "id", name, "files",
                     game_files(game), "ranks", game_ranks(game), "squares", squares_of(game),
                     "walls", walls_of(game), "seats", seats, "house_rules", house, "reserves",
                     reserves, "pieces", game_has_turning(game) ? "KQRBNPV" : "KQRBNP",
                     "promotions", "qrbn");
}

enum status get_service_read(struct request *r, struct err *err)
{
    const struct http_options *o = &r->http->options;
    const struct arbiter_limits *limits = &o->arbiter->limits;
    static const char *const doors[] = {[DOOR_OPEN] = "open",
                                        [DOOR_INVITE] = "invite",
                                        [DOOR_CLOSED] = "closed"};
    static const char *const modes[] = {"per-move"};
    json_t *variants = json_array(), *languages = json_array(), *list = json_array();
    json_t *root;

    for (int i = 0; i < GAMES; i++)
        json_array_append_new(variants, variant_of(game_at(i)));
    for (int i = 0; i < LANGS; i++)
        json_array_append_new(languages, json_string(lang_tag((enum lang)i)));
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        json_array_append_new(list, json_string(modes[i]));
    root = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:{s:i, s:i, s:i, s:i, s:i, s:i},"
        " s:{s:s, s:s, s:s, s:s, s:s}}",
        "name", o->site_name, "version", FH_VERSION, "api", "v1", "public_url", o->public_url,
        "registration", doors[o->people->door], "languages", languages, "variants", variants,
        "time",
        json_pack("{s:o, s:{s:I, s:I, s:I}, s:I, s:I, s:I}", "modes", list, "per_move_ms", "min",
                  (json_int_t)limits->per_move_min_ms, "default", (json_int_t)limits->per_move_ms,
                  "max", (json_int_t)limits->per_move_max_ms, "grace_ms",
                  (json_int_t)limits->grace_ms, "placing_ms", (json_int_t)limits->placing_ms,
                  "invitation_ms", (json_int_t)limits->invitation_ms),
        "limits", "body_bytes", (int)o->body_size, "page", 100, "games", limits->games,
        "webhooks", o->webhooks_per_user, "tokens", (int)o->people->tokens_max, "streams",
        o->streams_per_account, "links", "self", "/api/v1", "openapi", "/api/v1/openapi.yaml",
        "me", "/api/v1/me", "games", "/api/v1/games", "events", "/api/v1/events");
    return answer_json(r, 200, root, err);
}

enum status get_openapi_read(struct request *r, struct err *err)
{
    bool is_versioned;
    const struct file *file = files_find(r->http->files, "/openapi.yaml", &is_versioned);

    if (!file)
        return err_detail(err, REASON_NOT_FOUND, "refusal.no_description",
                          "the description is not installed here");
    r->answer.body.limit = HTTP_FILES_BYTES;
    buf_add(&r->answer.body, file->bytes, file->len);
    r->answer.status = 200;
    r->answer.type = "application/yaml";
    answer_header(r, "ETag", file->etag);
    return buf_status(&r->answer.body, "openapi.yaml", err);
}

enum status get_words_read(struct request *r, struct err *err)
{
    enum lang lang;
    json_t *texts;

    if (!lang_find(r->params[0], &lang))
        return err_detail(err, REASON_NOT_FOUND, "refusal.no_texts",
                          "there are no texts in that language");
    texts = json_object();
    for (size_t i = 0; i < words_count(); i++) {
        struct words_entry entry = words_at(lang, i);

        if (!entry.is_plural) {
            json_object_set_new(texts, entry.code, json_string(entry.form[PLURAL_OTHER]));
            continue;
        }
        for (int p = 0; p < PLURALS; p++) {
            char code[128];

            if (!entry.form[p])
                continue;
            snprintf(code, sizeof code, "%s.%s", entry.code, plural_str((enum plural)p));
            json_object_set_new(texts, code, json_string(entry.form[p]));
        }
    }
    return answer_json(r, 200,
                       json_pack("{s:s, s:o}", "language", lang_tag(lang), "texts", texts), err);
}

enum status get_problem_read(struct request *r, struct err *err)
{
    for (int i = REASON_NONE + 1; i < REASON_COUNT_; i++) {
        enum reason reason = (enum reason)i;

        if (strcmp(reason_slug(reason), r->params[0]) == 0)
            return answer_json(r, 200,
                               json_pack("{s:s, s:i, s:s}", "code", reason_slug(reason), "status",
                                         status_http(reason_status(reason)), "title",
                                         words_reason(r->form.lang, reason)),
                               err);
    }
    return err_detail(err, REASON_NOT_FOUND, "refusal.no_problem",
                      "there is no problem of that code");
}
