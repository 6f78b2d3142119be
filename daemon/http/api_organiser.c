/*
 * http/api_organiser.c - what the organiser of a game, or an operator, does to it.
 */
#include <stdlib.h>
#include <string.h>

#include "http/game_acts.h"
#include "http/handlers.h"

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
