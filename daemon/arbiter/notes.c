/* arbiter/notes.c - see notes.h. */
#include "arbiter/notes.h"

#include "arbiter/desk.h"
#include "base/str.h"

enum status arbiter_may_note(const struct seat_row seats[SEAT_COUNT], int64_t user_id,
                             struct err *err)
{
    if (seats_of_user(seats, user_id) == 0)
        return err_detail(err, REASON_NOT_YOUR_GAME, "refusal.notes_players",
                          "notes are for the game's players");
    return ST_OK;
}

enum status arbiter_note(struct store_txn *txn, utc_ms now, const struct game_row *game,
                         const struct seat_row seats[SEAT_COUNT], int64_t user_id,
                         const char *text, struct note_row *ret_note, struct err *err)
{
    struct note_row note = {
        .game_id = game->id,
        .user_id = user_id,
        .ply = game->ply,
        .state_no = game->state_no,
        .at = now,
    };

    TRY(arbiter_may_note(seats, user_id, err));
    if (!str_copy(note.text, sizeof note.text, text))
        return err_reason(err, REASON_TOO_LARGE, "that is larger than is read here");
    TRY(notes_add(txn, &note, &note.id, err));
    if (ret_note)
        *ret_note = note;
    return ST_OK;
}
