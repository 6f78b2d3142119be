/*
 * http/api_notes.c - what a player notes on a game, for himself alone.
 */
#include <stdlib.h>
#include <string.h>

#include "arbiter/notes.h"
#include "http/handlers.h"
#include "http/render.h"

enum { PAGE_MAX = 100, PAGE_DEFAULT = 50 };

/* The game, when whoever asks plays in it or did. */
static enum status find_own_game(struct request *r, struct store_conn *conn,
                                 struct game_view *view, struct err *err)
{
    enum status st = game_view_find(conn, r->params[0], request_viewer(r), view, err);

    return st == ST_OK ? arbiter_may_note(view->seats, r->who.user_id, err) : st;
}

static json_t *render_note(const struct note_row *note)
{
    return json_pack("{s:I, s:i, s:I, s:s, s:o}", "id", (json_int_t)note->id, "ply", note->ply,
                     "state_number", (json_int_t)note->state_no, "text", note->text, "at",
                     render_instant(note->at));
}

enum status list_notes_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"since", "limit", NULL};
    struct game_view *view = malloc(sizeof *view);
    struct note_row *rows = calloc(PAGE_MAX, sizeof *rows);
    struct store_conn *conn = NULL;
    json_t *items;
    int64_t since, limit;
    size_t n = 0;
    enum status st;

    request_query_only(r, names);
    request_query_int(r, "since", 0, INT64_MAX - 1, 0, &since);
    request_query_int(r, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit);
    st = form_end(&r->form, err);
    if (st == ST_OK && (!view || !rows))
        st = err_reason(err, REASON_NO_MEMORY, "notes");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_own_game(r, conn, view, err);
    if (st == ST_OK)
        st = notes_list(conn, view->game.id, r->who.user_id, since, rows, (size_t)limit, &n, err);
    if (st == ST_OK) {
        items = json_array();
        for (size_t i = 0; i < n; i++)
            json_array_append_new(items, render_note(&rows[i]));
        st = answer_json(r, 200,
                         json_pack("{s:o, s:o}", "items", items, "next",
                                   n == (size_t)limit ? json_integer(rows[n - 1].id)
                                                      : json_null()),
                         err);
    }
    free(rows);
    free(view);
    return st;
}

struct note_data {
    const char *text;
};

enum status add_note_prepare(struct request *r, struct err *err)
{
    struct note_data *data = calloc(1, sizeof *data);

    r->data = data;
    r->data_free = free;
    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    form_str(&r->form, "text", FIELD_NEEDED, 1, NOTE_SIZE - 1, &data->text);
    if (data->text && strlen(data->text) >= NOTE_SIZE)
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "/text", "refusal.must_bytes",
                   "must have at most {most} bytes", ERR_NUMBER("most", NOTE_SIZE - 1));
    if (data->text && data->text[strspn(data->text, " \t\n")] == '\0')
        form_error(&r->form, REASON_BAD_FIELD, "/text", "refusal.must_not_empty",
                   "must not be empty");
    for (const char *p = data->text; p && *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f) {
            form_error(&r->form, REASON_BAD_FIELD, "/text", "refusal.control",
                       "holds a control character");
            break;
        }
    return form_end(&r->form, err);
}

enum status add_note_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct note_data *data = r->data;
    struct game_view *view = malloc(sizeof *view);
    struct note_row *note = calloc(1, sizeof *note);
    enum status st = ST_OK;

    if (!view || !note)
        st = err_reason(err, REASON_NO_MEMORY, "a note");
    if (st == ST_OK)
        st = game_view_find(store_txn_conn(txn), r->params[0], request_viewer(r), view, err);
    if (st == ST_OK)
        st = arbiter_note(txn, now, &view->game, view->seats, r->who.user_id, data->text, note,
                          err);
    if (st == ST_OK)
        st = answer_json(r, 201, render_note(note), err);
    free(note);
    free(view);
    return st;
}
