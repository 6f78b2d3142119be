#include "rules/pgn4.h"

#include <assert.h>
#include <string.h>

#include "rules/line.h"

/* The tags that matter to the reader; what comes first in a file does not. */
enum tag {
    TAG_VARIANT,
    TAG_RULES,
    TAG_FEN4,
    TAG_RESULT,
    TAG_TERMINATION,
    TAG_HOUSE,  /* ours: game and house rules */
    TAG_NATIVE, /* ours: the start as R-T1 */
    TAG_CAUSE   /* ours: result and cause */
};
static const char *const tag_names[PGN4_TAGS] = {
    "Variant",     "RuleVariants",      "StartFen4",          "Result",
    "Termination", "FourhandedVariant", "FourhandedPosition", "FourhandedResult"};

static const char leave_remark[] = "[%leave ";

static char to_small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *a, const char *b)
{
    for (; *a != '\0' && *b != '\0'; a++, b++)
        if (to_small(*a) != to_small(*b))
            return false;
    return *a == *b;
}

static const char *result_tag(enum result result, bool is_aborted)
{
    switch (result) {
    case RESULT_TEAM0:
        return "1-0";
    case RESULT_TEAM1:
        return "0-1";
    case RESULT_DRAW:
        return "1/2-1/2";
    case RESULT_NONE:
        break;
    }
    return is_aborted ? "Aborted" : "*";
}

/* ---------------------------------------------------------------- writing */

static void put_bytes(struct pgn4_writer *w, const char *bytes, size_t n)
{
    if (w->is_ok && n > 0)
        w->is_ok = w->sink(w->arg, bytes, n);
}
static void put(struct pgn4_writer *w, const char *text)
{
    put_bytes(w, text, strlen(text));
}

void pgn4_writer_start(struct pgn4_writer *writer, pgn4_sink *sink, void *arg,
                       const struct pgn4_ending *ending)
{
    memset(writer, 0, sizeof *writer);
    writer->sink = sink;
    writer->arg = arg;
    writer->ending = *ending;
    writer->is_ok = true;
}

/* At most `most` bytes of text, no character of UTF-8 cut in two. */
static size_t cut_at(const char *text, size_t most)
{
    size_t n = strlen(text);

    if (n <= most)
        return n;
    n = most;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n > 0 ? n : most;
}

void pgn4_write_tag(struct pgn4_writer *writer, const char *name, const char *value)
{
    size_t n = cut_at(value, PGN4_TAG_VALUE_MAX);

    assert(strlen(name) <= PGN4_TAG_NAME_MAX && name[0] != '\0');
    put(writer, "[");
    put(writer, name);
    put(writer, " \"");
    for (size_t i = 0, from = 0; i <= n; i++) {
        bool is_quote = i < n && value[i] == '"';

        if (i == n || is_quote || (unsigned char)value[i] < ' ' || value[i] == '\177') {
            put_bytes(writer, value + from, i - from);
            if (i < n)
                put(writer, is_quote ? "'" : " ");
            from = i + 1;
        }
    }
    put(writer, "\"]\n");
}

static const char *cause_words(enum cause cause)
{
    switch (cause) {
    case CAUSE_MATE:
        return "Checkmate";
    case CAUSE_LEAVING:
        return "Resigned or forfeited";
    case CAUSE_STALEMATE:
        return "Stalemate";
    case CAUSE_THREEFOLD:
        return "Threefold repetition, claimed";
    case CAUSE_FIVEFOLD:
        return "Fivefold repetition";
    case CAUSE_FIFTY_ROUNDS:
        return "Fifty rounds without progress, claimed";
    case CAUSE_SEVENTY_FIVE_ROUNDS:
        return "Seventy-five rounds without progress";
    case CAUSE_AGREEMENT:
        return "Draw agreed";
    case CAUSE_NONE:
        break;
    }
    return "Adjudicated";
}

static void write_ending(struct pgn4_writer *w)
{
    const struct pgn4_ending *e = &w->ending;
    const char *result = result_tag(e->result, e->is_aborted);
    char text[96];
    struct line line = line_start(text, sizeof text);

    pgn4_write_tag(w, tag_names[TAG_RESULT], result);
    if (e->termination != NULL) {
        pgn4_write_tag(w, tag_names[TAG_TERMINATION], e->termination);
    } else if (e->result != RESULT_NONE) {
        line_string(&line, cause_words(e->cause));
        line_string(&line, ". ");
        line_string(&line, result);
        line_end(&line);
        pgn4_write_tag(w, tag_names[TAG_TERMINATION], text);
    } else if (e->is_aborted) {
        pgn4_write_tag(w, tag_names[TAG_TERMINATION], "Aborted");
    }
    if (e->result == RESULT_NONE && !e->is_aborted)
        return;
    line = line_start(text, sizeof text);
    line_string(&line, result_str(e->result));
    line_char(&line, ' ');
    line_string(&line, e->is_aborted ? "aborted" : cause_str(e->cause));
    line_end(&line);
    pgn4_write_tag(w, tag_names[TAG_CAUSE], text);
}

void pgn4_write_position(struct pgn4_writer *writer, const struct position *start)
{
    const struct variant *variant = &start->variant;
    char text[FEN4_TEXT_MAX + 1];
    struct position array;
    bool is_on_160 = fen4_has_game(variant->game);

    writer->pos = *start;
    writer->first = (enum seat)start->turn;
    pgn4_write_tag(writer, tag_names[TAG_VARIANT], is_on_160 ? "Teams" : "Fortress");
    if (is_on_160 && game_has_en_passant(variant->game))
        pgn4_write_tag(writer, tag_names[TAG_RULES], "EnPassant");
    if (is_on_160) {
        char array_text[FEN4_TEXT_MAX + 1];
        bool is_array = position_start(variant, NULL, &array) == RESERVE_OK &&
                        game_has_castling(variant->game);

        fen4_print(start, FEN4_CORNERS_X, text, sizeof text);
        if (is_array)
            fen4_print(&array, FEN4_CORNERS_X, array_text, sizeof array_text);
        pgn4_write_tag(writer, tag_names[TAG_FEN4],
                       is_array && strcmp(text, array_text) == 0 ? "4PC" : text);
    }
    variant_print(variant, true, text, sizeof text);
    pgn4_write_tag(writer, tag_names[TAG_HOUSE], text);
    position_print(start, text, sizeof text);
    pgn4_write_tag(writer, tag_names[TAG_NATIVE], text);
    write_ending(writer);
    put(writer, "\n");
}

/* The seat's token: in its place of the round. */
static void write_token(struct pgn4_writer *w, enum seat seat, const char *token)
{
    unsigned place = (seat - w->first) & 3u;

    if (w->round == 0 || place <= w->last) {
        char text[24];
        struct line line = line_start(text, sizeof text);

        w->round++;
        if (w->needs_space)
            line_char(&line, '\n');
        line_number(&line, w->round);
        line_string(&line, ". ");
        line_end(&line);
        put(w, text);
    } else {
        put(w, " .. ");
    }
    w->last = place;
    w->needs_space = true;
    put(w, token);
}

/* Seats passed over have a token of their own. */
static void write_passes(struct pgn4_writer *w, const struct outcome *outcome)
{
    for (int i = 0; i < outcome->count; i++)
        if (outcome->at[i].type == EVENT_PASSED)
            write_token(w, (enum seat)outcome->at[i].seat, "S");
}

bool pgn4_write_move(struct pgn4_writer *writer, struct move move)
{
    enum seat seat = (enum seat)writer->pos.turn;
    char text[MOVE_LONG_MAX];
    struct outcome outcome;
    struct position after = writer->pos;

    if (position_play(&after, move, &outcome, NULL) != MOVE_LEGAL)
        return false;
    move_print_long(&writer->pos, move, text, sizeof text);
    writer->pos = after;
    write_token(writer, seat, text);
    write_passes(writer, &outcome);
    return true;
}

bool pgn4_write_leave(struct pgn4_writer *writer, enum seat seat, enum leave_how how)
{
    bool is_on_turn = seat == (enum seat)writer->pos.turn;
    struct outcome outcome;

    if (position_leave(&writer->pos, seat, how, &outcome) != LEAVE_OK)
        return false;
    if (is_on_turn) {
        write_token(writer, seat, how == LEAVE_RESIGN ? "R" : "T");
    } else {
        put(writer, writer->needs_space ? " {" : "{");
        put(writer, leave_remark);
        put(writer, seat_name(seat));
        put(writer, how == LEAVE_RESIGN ? " resign]}" : " forfeit]}");
        writer->needs_space = true;
    }
    write_passes(writer, &outcome);
    return true;
}

void pgn4_write_comment(struct pgn4_writer *writer, const char *text)
{
    /* A long text becomes several comments, each within the reader's limit. */
    do {
        size_t n = cut_at(text, PGN4_COMMENT_MAX - 96);

        put(writer, writer->needs_space ? " { " : "{ ");
        for (size_t i = 0, from = 0; i <= n; i++) {
            const char *instead = NULL;

            if (i < n && text[i] == '}')
                instead = ")";
            else if (i < n && strncmp(text + i, leave_remark, sizeof leave_remark - 1) == 0)
                instead = "(";
            else if (i < n && ((unsigned char)text[i] < ' ' || text[i] == '\177') &&
                     text[i] != '\n' && text[i] != '\t')
                instead = " ";
            if (i == n || instead != NULL) {
                put_bytes(writer, text + from, i - from);
                if (instead != NULL)
                    put(writer, instead);
                from = i + 1;
            }
        }
        put(writer, " }");
        writer->needs_space = true;
        text += n;
    } while (*text != '\0');
}

bool pgn4_write_end(struct pgn4_writer *writer)
{
    put(writer, writer->needs_space ? "\n\n" : "\n");
    return writer->is_ok;
}

/* ---------------------------------------------------------------- errors */

static const char *const verdict_words[] = {
    "ok",            "stopped",        "empty",         "bad-character", "bad-tag",
    "tag-twice",     "too-long",       "ends-early",    "no-variant",    "other-variant",
    "other-rules",   "bad-house-rules", "bad-position", "bad-fen4",      "bad-result",
    "no-start",      "bad-token",      "bad-round",     "bad-move",      "bad-leave",
    "bad-mark",      "after-end",      "nested-too-deep", "unmatched",   "result-differs"};

const char *pgn4_verdict_str(enum pgn4_verdict verdict)
{
    assert((size_t)verdict < sizeof verdict_words / sizeof verdict_words[0]);
    return verdict_words[verdict];
}

size_t pgn4_error_sentence(const struct pgn4_error *error, char *text, size_t size)
{
    struct line line = line_start(text, size);

    if (error->line > 0) {
        line_string(&line, "line ");
        line_number(&line, (uint64_t)error->line);
        line_string(&line, ", column ");
        line_number(&line, (uint64_t)error->column);
        line_string(&line, ": ");
    }
    line_string(&line, error->text);
    return line_end(&line);
}

static enum pgn4_verdict fail(struct pgn4_reader *r, enum pgn4_verdict code,
                              struct pgn4_place place, const char *word, const char *sentence)
{
    struct pgn4_error *e = &r->error;
    struct line line = line_start(e->word, sizeof e->word);

    if (e->code != PGN4_OK)
        return e->code;
    e->code = code;
    e->line = place.line;
    e->column = place.column;
    e->game = r->games + 1;
    for (const char *c = word; *c != '\0'; c++)
        line_char(&line, (unsigned char)*c < ' ' || *c == '\177' ? '?' : *c);
    line_end(&line);
    line = line_start(e->text, sizeof e->text);
    if (word[0] != '\0') {
        line_char(&line, '"');
        line_string(&line, e->word);
        line_string(&line, "\": ");
    }
    line_string(&line, sentence);
    line_end(&line);
    return code;
}

/* The place `offset` bytes into a text that begins at `place`. */
static struct pgn4_place place_in(struct pgn4_place place, const char *text, size_t offset)
{
    for (size_t i = 0; i < offset && text[i] != '\0'; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

static bool failed(const struct pgn4_reader *r)
{
    return r->error.code != PGN4_OK;
}

/* ---------------------------------------------------------------- reading: tags */

static bool has_tag(const struct pgn4_reader *r, enum tag tag)
{
    return (r->tags >> tag & 1u) != 0;
}

static char *tag_store(struct pgn4_reader *r, enum tag tag, size_t *ret_size)
{
    switch (tag) {
    case TAG_VARIANT:
        *ret_size = sizeof r->variant;
        return r->variant;
    case TAG_RULES:
        *ret_size = sizeof r->rules;
        return r->rules;
    case TAG_FEN4:
        *ret_size = sizeof r->fen4;
        return r->fen4;
    case TAG_RESULT:
        *ret_size = sizeof r->result;
        return r->result;
    case TAG_TERMINATION:
        *ret_size = sizeof r->termination;
        return r->termination;
    case TAG_HOUSE:
        *ret_size = sizeof r->house;
        return r->house;
    case TAG_NATIVE:
        *ret_size = sizeof r->native;
        return r->native;
    case TAG_CAUSE:
        break;
    }
    *ret_size = sizeof r->cause;
    return r->cause;
}

static void take_tag(struct pgn4_reader *r)
{
    r->text[r->length] = '\0';
    r->has_tags = true;
    if (r->handler.tag != NULL && !r->handler.tag(r->handler.arg, r->name, r->text)) {
        fail(r, PGN4_STOPPED, r->at, "", "stopped");
        return;
    }
    for (int tag = 0; tag < PGN4_TAGS; tag++) {
        size_t size = 0;
        char *store;

        if (!same_word(r->name, tag_names[tag]))
            continue;
        if (has_tag(r, (enum tag)tag)) {
            fail(r, PGN4_TAG_TWICE, r->at, r->name, "this tag stands here a second time");
            return;
        }
        store = tag_store(r, (enum tag)tag, &size);
        if (r->length >= size) {
            if (tag != TAG_TERMINATION) {
                fail(r, PGN4_TOO_LONG, r->at, r->name, "the tag's value is too long");
                return;
            }
            r->length = cut_at(r->text, size - 1);
        }
        memcpy(store, r->text, r->length);
        store[r->length] = '\0';
        r->tags |= 1u << tag;
        r->tag_at[tag] = r->at;
    }
}

/* Words of RuleVariants that leave our teams game as it is. */
static bool rule_is_harmless(const char *word)
{
    static const char *const harmless[] = {"EnPassant", "Prom=11", "Teammate=2", "Anonymous",
                                           "SemiAnonymous", "Ghostboard", "SpectatorChat",
                                           "Blindfold", "PromoteTo=QRBN"};

    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (same_word(word, harmless[i]))
            return true;
    return false;
}

static void check_rules(struct pgn4_reader *r)
{
    char word[PGN4_TOKEN_MAX + 1];

    for (size_t i = 0; r->rules[i] != '\0';) {
        size_t from, n = 0;

        while (r->rules[i] == ' ' || r->rules[i] == '\n' || r->rules[i] == '\t' ||
               r->rules[i] == '\r')
            i++;
        for (from = i; r->rules[i] != '\0' && strchr(" \n\r\t", r->rules[i]) == NULL; i++)
            if (n + 1 < sizeof word)
                word[n++] = r->rules[i];
        word[n] = '\0';
        if (n > 0 && (i - from != n || !rule_is_harmless(word))) {
            fail(r, PGN4_OTHER_RULES, place_in(r->tag_at[TAG_RULES], r->rules, from), word,
                 "by this rule another game is played, which is not known here");
            return;
        }
    }
}

static void find_variant(struct pgn4_reader *r, struct variant *ret)
{
    struct variant_error error;
    char sentence[200];

    if (has_tag(r, TAG_HOUSE)) {
        if (variant_parse(r->house, ret, &error) != VARIANT_OK) {
            variant_error_sentence(&error, sentence, sizeof sentence);
            fail(r, PGN4_BAD_HOUSE_RULES,
                 place_in(r->tag_at[TAG_HOUSE], r->house, error.offset), "", sentence);
        }
    } else if (!has_tag(r, TAG_VARIANT)) {
        fail(r, PGN4_NO_VARIANT, r->at, "", "before the moves a Variant tag is needed");
    } else if (!same_word(r->variant, "Teams") || !variant_find("teams", ret)) {
        fail(r, PGN4_OTHER_VARIANT, r->tag_at[TAG_VARIANT], r->variant,
             "this game is not known here; of foreign games only Teams are read");
    } else if (has_tag(r, TAG_RULES)) {
        check_rules(r);
    }
}

static void find_start(struct pgn4_reader *r, const struct variant *variant)
{
    char sentence[FEN4_SENTENCE_MAX];

    if (has_tag(r, TAG_NATIVE)) {
        struct position_error error;

        if (position_parse(variant, r->native, &r->pos, &error) != POSITION_OK) {
            position_error_sentence(variant->game, &error, sentence, sizeof sentence);
            fail(r, PGN4_BAD_POSITION,
                 place_in(r->tag_at[TAG_NATIVE], r->native, error.offset), "", sentence);
        }
        return;
    }
    if (has_tag(r, TAG_FEN4) && strchr(r->fen4, '-') != NULL) {
        struct fen4_error error;

        if (fen4_parse(variant, r->fen4, strlen(r->fen4), &r->pos, &error) != FEN4_OK) {
            struct pgn4_place at =
                place_in(r->tag_at[TAG_FEN4], r->fen4, error.offset);
            const char *said = sentence;

            fen4_error_sentence(&error, sentence, sizeof sentence);
            /* Its own "line …, column …" counts from the value; ours from the file. */
            if (error.code != FEN4_OK && strstr(said, ": ") != NULL) {
                const char *comma = strchr(said, ',');
                const char *second = comma != NULL ? strchr(comma + 1, ',') : NULL;
                const char *colon = strstr(said, ": ");

                said = second != NULL && second < colon ? second + 2 : colon + 2;
            }
            fail(r, PGN4_BAD_FEN4, at, "", said);
        }
        return;
    }
    if (has_tag(r, TAG_FEN4)) {
        /* Named arrays: those of the queens' sides that our games have. */
        bool is_left = variant->queens == QUEENS_LEFT || game_has_castling(variant->game);

        if (!fen4_has_game(variant->game) || !same_word(r->fen4, is_left ? "4PC" : "4PCo")) {
            fail(r, PGN4_BAD_FEN4, r->tag_at[TAG_FEN4], r->fen4,
                 is_left ? "this array is not known to the game; 4PC or a FEN4 is"
                         : "this array is not known to the game; 4PCo or a FEN4 is");
            return;
        }
    }
    if (variant->reserve != RESERVE_USUAL && fen4_has_game(variant->game) == false) {
        fail(r, PGN4_NO_START, r->at, "",
             "where the reserves stand is not said; a FourhandedPosition tag is needed");
        return;
    }
    (void)position_start(variant, NULL, &r->pos);
}

/* The tags are complete. */
static bool start_game(struct pgn4_reader *r)
{
    struct variant variant;

    if (failed(r))
        return false;
    if (r->is_started)
        return true;
    memset(&variant, 0, sizeof variant);
    find_variant(r, &variant);
    if (!failed(r))
        find_start(r, &variant);
    if (failed(r))
        return false;
    r->is_started = true;
    r->mark_count = 0;
    if (r->handler.start != NULL && !r->handler.start(r->handler.arg, &r->pos))
        fail(r, PGN4_STOPPED, r->at, "", "stopped");
    return !failed(r);
}

/* ---------------------------------------------------------------- reading: the end of a game */

static bool result_of_tag(const char *text, enum result *ret, bool *ret_aborted)
{
    static const struct {
        const char *text;
        enum result result;
    } known[] = {{"1-0", RESULT_TEAM0},  {"0-1", RESULT_TEAM1},      {"1/2-1/2", RESULT_DRAW},
                 {"Draw", RESULT_DRAW},  {"*", RESULT_NONE},         {"Aborted", RESULT_NONE},
                 {"", RESULT_NONE}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (same_word(text, known[i].text)) {
            *ret = known[i].result;
            *ret_aborted = same_word(text, "Aborted");
            return true;
        }
    }
    return false;
}

/* "team0 mate", "none aborted". */
static bool result_of_ours(const char *text, struct pgn4_result *ret)
{
    for (int result = RESULT_NONE; result <= RESULT_DRAW; result++) {
        size_t n = strlen(result_str((enum result)result));

        if (strncmp(text, result_str((enum result)result), n) != 0 || text[n] != ' ')
            continue;
        if (result == RESULT_NONE && strcmp(text + n + 1, "aborted") == 0) {
            ret->result = RESULT_NONE;
            ret->is_aborted = true;
            return true;
        }
        for (int cause = CAUSE_NONE; cause <= CAUSE_AGREEMENT; cause++) {
            if (strcmp(text + n + 1, cause_str((enum cause)cause)) == 0) {
                ret->result = (enum result)result;
                ret->cause = (enum cause)cause;
                return true;
            }
        }
    }
    return false;
}

static void find_result(struct pgn4_reader *r, struct pgn4_result *ret)
{
    enum result said = RESULT_NONE;
    struct pgn4_result ours = {.result = RESULT_NONE};
    struct pgn4_place at = has_tag(r, TAG_RESULT) ? r->tag_at[TAG_RESULT] : r->at;
    bool is_said = false, differs = false;

    *ret = (struct pgn4_result){.result = RESULT_NONE, .termination = r->termination};
    if (has_tag(r, TAG_RESULT)) {
        if (!result_of_tag(r->result, &said, &ret->is_aborted)) {
            fail(r, PGN4_BAD_RESULT, at, r->result,
                 "this is no result; 1-0, 0-1, 1/2-1/2, Aborted and * are");
            return;
        }
        is_said = said != RESULT_NONE || ret->is_aborted;
    }
    if (r->is_ended && r->said != RESULT_NONE) {
        differs = is_said && said != r->said;
        said = r->said;
        is_said = true;
    }
    if (has_tag(r, TAG_CAUSE)) {
        if (!result_of_ours(r->cause, &ours)) {
            fail(r, PGN4_BAD_RESULT, r->tag_at[TAG_CAUSE], r->cause,
                 "this is no result and cause, as in \"team0 mate\"");
            return;
        }
        differs = differs || (is_said && said != ours.result);
        said = ours.result;
        is_said = true;
        ret->cause = ours.cause;
        ret->is_aborted = ret->is_aborted || ours.is_aborted;
    }
    if (position_is_over(&r->pos)) {
        differs = differs || (is_said && said != (enum result)r->pos.result);
        ret->is_on_board = true;
        said = (enum result)r->pos.result;
        ret->cause = (enum cause)r->pos.cause;
    }
    ret->result = said;
    if (differs)
        fail(r, PGN4_RESULT_DIFFERS, at, r->result,
             position_is_over(&r->pos) ? "the moves end the game with another result"
                                       : "the file says two different results");
}

static void finish_game(struct pgn4_reader *r)
{
    struct pgn4_result result;

    if (r->depth > 0) {
        fail(r, PGN4_ENDS_EARLY, r->open_at[r->depth - 1], "(", "this variation is not closed");
        return;
    }
    if (!start_game(r))
        return;
    find_result(r, &result);
    if (failed(r))
        return;
    if (r->handler.end != NULL && !r->handler.end(r->handler.arg, &result, &r->pos)) {
        fail(r, PGN4_STOPPED, r->at, "", "stopped");
        return;
    }
    r->games++;
    r->tags = 0;
    r->has_tags = r->is_started = r->is_ended = false;
    r->mark_count = 0;
    r->said = RESULT_NONE;
    r->variant[0] = r->rules[0] = r->fen4[0] = r->house[0] = r->native[0] = '\0';
    r->result[0] = r->cause[0] = r->termination[0] = '\0';
}

/* ---------------------------------------------------------------- reading: among the moves */

enum { MARK_PASSED = 8 };

static void note_marks(struct pgn4_reader *r, const struct outcome *outcome)
{
    r->mark_count = 0;
    for (int i = 0; i < outcome->count; i++) {
        const struct event *e = &outcome->at[i];

        if ((e->type == EVENT_MATED || e->type == EVENT_PASSED) &&
            r->mark_count < (int)sizeof r->marks)
            r->marks[r->mark_count++] =
                (uint8_t)(e->seat | (e->type == EVENT_PASSED ? MARK_PASSED : 0));
    }
}

/* `#` or `S` on the turn of a seat that was mated or passed since the last move. */
static void take_mark(struct pgn4_reader *r, bool is_pass)
{
    for (int i = 0; i < r->mark_count; i++) {
        if (((r->marks[i] & MARK_PASSED) != 0) == is_pass) {
            r->mark_count -= i + 1;
            memmove(r->marks, r->marks + i + 1, (size_t)r->mark_count);
            return;
        }
    }
    fail(r, PGN4_BAD_MARK, r->at, is_pass ? "S" : "#",
         is_pass ? "nobody is stalemated here" : "nobody is mated here");
}

static void take_leave(struct pgn4_reader *r, enum seat seat, enum leave_how how,
                       const char *word)
{
    struct outcome outcome;
    enum leave_verdict verdict = position_leave(&r->pos, seat, how, &outcome);

    if (verdict != LEAVE_OK) {
        static const char *const why[] = {"", "the game is over", "that seat has left already",
                                          "only the seat on turn can be forfeited"};

        fail(r, verdict == LEAVE_GAME_OVER ? PGN4_AFTER_END : PGN4_BAD_LEAVE, r->at, word,
             why[verdict]);
        return;
    }
    note_marks(r, &outcome);
    if (r->handler.leave != NULL &&
        !r->handler.leave(r->handler.arg, seat, how, &outcome, &r->pos))
        fail(r, PGN4_STOPPED, r->at, "", "stopped");
}

static void take_move(struct pgn4_reader *r, const char *token, struct pgn4_place at)
{
    struct move_reading reading;
    struct position before;
    struct outcome outcome;

    if (move_read(&r->pos, token, strlen(token), &reading) != READ_MOVE) {
        char sentence[MOVE_READING_SENTENCE_MAX];

        move_reading_sentence(&r->pos, &reading, sentence, sizeof sentence);
        fail(r, reading.code == READ_NOT_A_MOVE ? PGN4_BAD_TOKEN : PGN4_BAD_MOVE, at, token,
             sentence);
        return;
    }
    before = r->pos;
    (void)position_play(&r->pos, reading.move, &outcome, NULL);
    note_marks(r, &outcome);
    if (r->handler.move != NULL && !r->handler.move(r->handler.arg, &before, reading.move,
                                                    &outcome, &r->pos))
        fail(r, PGN4_STOPPED, at, "", "stopped");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void take_token(struct pgn4_reader *r)
{
    const char *token = r->text;
    struct pgn4_place at = r->at;
    enum result result;
    bool is_aborted = false;
    size_t n = 0;

    r->text[r->length] = '\0';
    if (r->depth > 0)
        return;
    if (!start_game(r))
        return;
    if (result_of_tag(token, &result, &is_aborted)) {
        if (r->is_ended) {
            fail(r, PGN4_AFTER_END, at, token, "the game has a result already");
            return;
        }
        r->is_ended = true;
        r->said = result;
        return;
    }
    while (is_digit(token[n]))
        n++;
    if (n > 0 && token[n] == '.') {
        while (token[n] == '.')
            n++;
        token += n;
        at.column += (int)n;
    } else if (n > 0 && !(token[0] == '0' && token[1] == '-')) {
        fail(r, PGN4_BAD_ROUND, at, token, "this is no move and no round's number, as in 12.");
        return;
    }
    if (token[strspn(token, ".")] == '\0')
        return;
    r->at = at;
    if (strcmp(token, "#") == 0 || strcmp(token, "S") == 0) {
        take_mark(r, token[0] == 'S');
        return;
    }
    if (r->is_ended || position_is_over(&r->pos)) {
        fail(r, PGN4_AFTER_END, at, token, "the game is over before this");
        return;
    }
    if (strcmp(token, "R") == 0 || strcmp(token, "T") == 0) {
        take_leave(r, (enum seat)r->pos.turn, token[0] == 'R' ? LEAVE_RESIGN : LEAVE_FORFEIT,
                   token);
    } else if (strcmp(token, "D") == 0) {
        r->is_ended = true;
        r->said = RESULT_DRAW;
    } else {
        take_move(r, token, at);
    }
}

/* "[%leave West resign]". */
static void take_remark(struct pgn4_reader *r, const char *text)
{
    const char *p = text + sizeof leave_remark - 1;

    for (unsigned seat = 0; seat < SEATS; seat++) {
        size_t n = strlen(seat_name((enum seat)seat));

        if (strncmp(p, seat_name((enum seat)seat), n) != 0 || p[n] != ' ')
            continue;
        p += n + 1;
        if (strcmp(p, "resign]") == 0)
            take_leave(r, (enum seat)seat, LEAVE_RESIGN, text);
        else if (strcmp(p, "forfeit]") == 0)
            take_leave(r, (enum seat)seat, LEAVE_FORFEIT, text);
        else
            break;
        return;
    }
    fail(r, PGN4_BAD_LEAVE, r->at, text, "this remark is not read, as [%leave West resign] is");
}

static void take_comment(struct pgn4_reader *r)
{
    size_t from = 0;

    if (r->depth > 0 || !start_game(r))
        return;
    while (r->length > 0 && strchr(" \t\r\n", r->text[r->length - 1]) != NULL)
        r->length--;
    r->text[r->length] = '\0';
    while (r->text[from] != '\0' && strchr(" \t\r\n", r->text[from]) != NULL)
        from++;
    if (strncmp(r->text + from, leave_remark, sizeof leave_remark - 1) == 0) {
        if (r->is_ended)
            fail(r, PGN4_AFTER_END, r->at, r->text + from, "the game is over before this");
        else
            take_remark(r, r->text + from);
    } else if (r->text[from] != '\0' && r->handler.comment != NULL &&
               !r->handler.comment(r->handler.arg, r->text + from)) {
        fail(r, PGN4_STOPPED, r->at, "", "stopped");
    }
}

/* ---------------------------------------------------------------- reading: bytes */

enum state {
    STATE_BETWEEN,
    STATE_TAG,       /* after '[' */
    STATE_TAG_NAME,
    STATE_TAG_GAP,   /* the name is over, the value not begun */
    STATE_TAG_VALUE,
    STATE_TAG_END,   /* the value is over, ']' not there yet */
    STATE_TOKEN,
    STATE_COMMENT,
    STATE_REST       /* from ';' to the end of the line */
};

void pgn4_reader_start(struct pgn4_reader *reader, const struct pgn4_handler *handler)
{
    memset(reader, 0, sizeof *reader);
    reader->handler = *handler;
    reader->here = (struct pgn4_place){1, 1};
    reader->at = reader->here;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void keep(struct pgn4_reader *r, char c, size_t most, const char *what)
{
    if (r->length >= most)
        fail(r, PGN4_TOO_LONG, r->at, "", what);
    else
        r->text[r->length++] = c;
}

static void begin(struct pgn4_reader *r, enum state state)
{
    r->state = (int)state;
    r->at = r->here;
    r->length = 0;
}

static void open_variation(struct pgn4_reader *r)
{
    if (!start_game(r))
        return;
    if (r->depth == PGN4_NESTING_MAX)
        fail(r, PGN4_NESTED_TOO_DEEP, r->here, "(", "variations are nested too deep");
    else
        r->open_at[r->depth++] = r->here;
}

static void read_between(struct pgn4_reader *r, char c)
{
    unsigned line_ends = r->line_ends;

    if (is_blank(c)) {
        r->line_ends += c == '\n';
        return;
    }
    r->line_ends = 0;
    r->at = r->here;
    switch (c) {
    case '[':
        /* A game without moves is over where, after an empty line, tags stand again. */
        if (r->depth > 0)
            fail(r, PGN4_BAD_TOKEN, r->here, "[", "no tag may stand in a variation");
        else if (r->is_started || (line_ends > 1 && (has_tag(r, TAG_VARIANT) ||
                                                     has_tag(r, TAG_HOUSE))))
            finish_game(r);
        begin(r, STATE_TAG);
        break;
    case '{':
        begin(r, STATE_COMMENT);
        break;
    case ';':
        begin(r, STATE_REST);
        break;
    case '(':
        open_variation(r);
        break;
    case ')':
        if (r->depth == 0)
            fail(r, PGN4_UNMATCHED, r->here, ")", "no variation is open here");
        else
            r->depth--;
        break;
    case '}':
        fail(r, PGN4_UNMATCHED, r->here, "}", "no comment is open here");
        break;
    case ']':
        fail(r, PGN4_UNMATCHED, r->here, "]", "no tag is open here");
        break;
    default:
        begin(r, STATE_TOKEN);
        r->text[r->length++] = c;
        break;
    }
}

static bool is_name(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void read_tag(struct pgn4_reader *r, char c)
{
    static const char form[] = "a tag is written [Name \"value\"]";

    switch ((enum state)r->state) {
    case STATE_TAG:
        if (is_blank(c))
            break;
        if (!is_name(c)) {
            fail(r, PGN4_BAD_TAG, r->here, "", form);
            break;
        }
        r->state = STATE_TAG_NAME;
        r->name_length = 0;
        /* fall through */
    case STATE_TAG_NAME:
        if (is_name(c)) {
            if (r->name_length == PGN4_TAG_NAME_MAX) {
                fail(r, PGN4_TOO_LONG, r->at, "", "the tag's name is too long");
                break;
            }
            r->name[r->name_length++] = c;
            r->name[r->name_length] = '\0';
            break;
        }
        r->state = STATE_TAG_GAP;
        /* fall through */
    case STATE_TAG_GAP:
        if (c == '"') {
            begin(r, STATE_TAG_VALUE);
            r->at.column++;
        } else if (!is_blank(c)) {
            fail(r, PGN4_BAD_TAG, r->here, r->name, form);
        }
        break;
    case STATE_TAG_VALUE:
        if (c == '"')
            r->state = STATE_TAG_END;
        else
            keep(r, c, PGN4_TAG_VALUE_MAX, "the tag's value is too long");
        break;
    default:
        if (c == ']') {
            r->state = STATE_BETWEEN;
            take_tag(r);
        } else if (!is_blank(c)) {
            fail(r, PGN4_BAD_TAG, r->here, r->name, form);
        }
        break;
    }
}

static void read_byte(struct pgn4_reader *r, char c)
{
    switch ((enum state)r->state) {
    case STATE_TOKEN:
        if (!is_blank(c) && strchr("[](){};", c) == NULL) {
            keep(r, c, PGN4_TOKEN_MAX, "this is too long for a move");
            break;
        }
        r->state = STATE_BETWEEN;
        take_token(r);
        if (!failed(r))
            read_between(r, c);
        break;
    case STATE_COMMENT:
        if (c == '}') {
            r->state = STATE_BETWEEN;
            take_comment(r);
        } else {
            keep(r, c, PGN4_COMMENT_MAX, "the comment is too long");
        }
        break;
    case STATE_REST:
        if (c == '\n')
            r->state = STATE_BETWEEN;
        break;
    case STATE_BETWEEN:
        read_between(r, c);
        break;
    default:
        read_tag(r, c);
        break;
    }
}

enum pgn4_verdict pgn4_read(struct pgn4_reader *reader, const char *bytes, size_t n)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf}; /* U+FEFF before everything */

    for (size_t i = 0; i < n && !failed(reader); i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool is_mark = reader->bytes < sizeof mark && c == mark[reader->bytes];

        reader->bytes++;
        if (is_mark)
            continue;
        if ((c < ' ' && !is_blank((char)c)) || c == '\177') {
            fail(reader, PGN4_BAD_CHARACTER, reader->here, "",
                 "this control character cannot stand in a PGN4");
            break;
        }
        read_byte(reader, (char)c);
        if (c == '\n') {
            reader->here.line++;
            reader->here.column = 1;
        } else if ((c & 0xc0) != 0x80) {
            reader->here.column++;
        }
    }
    return reader->error.code;
}

enum pgn4_verdict pgn4_read_end(struct pgn4_reader *reader)
{
    struct pgn4_reader *r = reader;

    if (failed(r))
        return r->error.code;
    switch ((enum state)r->state) {
    case STATE_TOKEN:
        take_token(r);
        break;
    case STATE_COMMENT:
        fail(r, PGN4_ENDS_EARLY, r->at, "{", "this comment is not closed");
        break;
    case STATE_BETWEEN:
    case STATE_REST:
        break;
    default:
        fail(r, PGN4_ENDS_EARLY, r->at, r->state == STATE_TAG ? "" : r->name,
             "this tag is not closed");
        break;
    }
    r->state = STATE_BETWEEN;
    if (failed(r))
        return r->error.code;
    if (r->is_started || r->has_tags || r->depth > 0)
        finish_game(r);
    else if (r->games == 0)
        fail(r, PGN4_EMPTY, r->here, "", "there is no game in this text");
    return r->error.code;
}
