/*
 * rules/variant.c - games and house rules by name.
 */
#include <assert.h>
#include <string.h>

#include "rules/game.h"
#include "rules/line.h"

/* One row a house rule: where its switch stands, and the words for its values. */
struct house_rule {
    const char *key;
    size_t field; /* offset in struct variant */
    size_t has;   /* offset of its bool in struct game_table */
    const char *values[4];
};

static const struct house_rule house_rules[] = {
    {"inert", offsetof(struct variant, inert), offsetof(struct game_table, house_inert),
     {"safe", "capturable", NULL, NULL}},
    {"queens", offsetof(struct variant, queens), offsetof(struct game_table, house_queens),
     {"light", "left", NULL, NULL}},
    {"promotion", offsetof(struct variant, promotion), offsetof(struct game_table, house_promotion),
     {"queen", "any", NULL, NULL}},
    {"reserve", offsetof(struct variant, reserve), offsetof(struct game_table, house_reserve),
     {"random", "chosen", "usual", NULL}},
};
enum { HOUSE_RULES = sizeof house_rules / sizeof house_rules[0] };

static bool game_has_rule(const struct game *game, const struct house_rule *rule)
{
    return *(const bool *)((const char *)game->table + rule->has);
}

static bool word_is(const char *word, size_t length, const char *what)
{
    return strlen(what) == length && memcmp(word, what, length) == 0;
}

static bool find_game(const char *name, size_t length, struct variant *ret_variant)
{
    for (int i = 0; i < GAMES; i++) {
        const struct game *game = game_at(i);

        if (word_is(name, length, game->table->name)) {
            *ret_variant = (struct variant){.game = game};
            return true;
        }
    }
    return false;
}

bool variant_find(const char *name, struct variant *ret_variant)
{
    return find_game(name, strlen(name), ret_variant);
}

bool variant_of_text(const char *text, struct variant *ret_variant)
{
    return find_game(text, strcspn(text, " "), ret_variant);
}

/* Fills *error, if any; returns the code. */
static enum variant_verdict fail(struct variant_error *error, enum variant_verdict code,
                                 const struct game *game, const char *text, const char *word,
                                 size_t length)
{
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->code = code;
        error->game = game;
        error->offset = (size_t)(word - text);
        if (length > sizeof error->word - 1)
            length = sizeof error->word - 1;
        memcpy(error->word, word, length);
    }
    return code;
}

/* One "key=value" of `length` bytes; seen has a bit for each rule already given. */
static enum variant_verdict read_rule(struct variant *variant, const char *word, size_t length,
                                      unsigned *seen)
{
    const char *equals = memchr(word, '=', length);
    size_t key = equals == NULL ? 0 : (size_t)(equals - word);

    if (equals == NULL)
        return VARIANT_NO_VALUE;
    for (unsigned i = 0; i < HOUSE_RULES; i++) {
        const struct house_rule *rule = &house_rules[i];

        if (!game_has_rule(variant->game, rule) || !word_is(word, key, rule->key))
            continue;
        if ((*seen >> i & 1u) != 0)
            return VARIANT_KEY_TWICE;
        *seen |= 1u << i;
        for (uint8_t value = 0; value < 4 && rule->values[value] != NULL; value++) {
            if (word_is(equals + 1, length - key - 1, rule->values[value])) {
                *((uint8_t *)variant + rule->field) = value;
                return VARIANT_OK;
            }
        }
        return VARIANT_BAD_VALUE;
    }
    return VARIANT_NO_KEY;
}

enum variant_verdict variant_parse(const char *text, struct variant *ret_variant,
                                   struct variant_error *error)
{
    static const char blanks[] = " \t";
    struct variant variant;
    const char *word = text + strspn(text, blanks);
    size_t length = strcspn(word, blanks);
    unsigned seen = 0;

    if (length == 0)
        return fail(error, VARIANT_NO_NAME, NULL, text, word, 0);
    if (!find_game(word, length, &variant))
        return fail(error, VARIANT_UNKNOWN, NULL, text, word, length);
    for (;;) {
        enum variant_verdict verdict;

        word += length;
        word += strspn(word, blanks);
        length = strcspn(word, blanks);
        if (length == 0)
            break;
        verdict = read_rule(&variant, word, length, &seen);
        if (verdict != VARIANT_OK)
            return fail(error, verdict, variant.game, text, word, length);
    }
    *ret_variant = variant;
    return VARIANT_OK;
}

/* "inert=safe|capturable, queens=light|left" or nothing. */
static void line_rules(struct line *line, const struct game *game)
{
    bool any = false;

    for (unsigned i = 0; i < HOUSE_RULES; i++) {
        if (!game_has_rule(game, &house_rules[i]))
            continue;
        line_string(line, any ? ", " : "");
        line_string(line, house_rules[i].key);
        for (int value = 0; house_rules[i].values[value] != NULL; value++) {
            line_char(line, value == 0 ? '=' : '|');
            line_string(line, house_rules[i].values[value]);
        }
        any = true;
    }
}

size_t variant_error_sentence(const struct variant_error *error, char *text, size_t size)
{
    static const char *const sentences[] = {
        [VARIANT_OK] = "nothing is wrong",
        [VARIANT_NO_NAME] = "the name of a game is missing",
        [VARIANT_UNKNOWN] = "there is no such game",
        [VARIANT_NO_VALUE] = "a house rule is written key=value",
        [VARIANT_NO_KEY] = "the game has no such house rule",
        [VARIANT_BAD_VALUE] = "the house rule has no such value",
        [VARIANT_KEY_TWICE] = "the house rule is given twice",
    };
    struct line line = line_start(text, size);
    char rules[VARIANT_TEXT_MAX];

    if (error->word[0] != '\0') {
        line_char(&line, '\'');
        line_string(&line, error->word);
        line_string(&line, "': ");
    }
    line_string(&line, sentences[error->code]);
    if (error->code == VARIANT_NO_NAME || error->code == VARIANT_UNKNOWN) {
        line_string(&line, "; games are ");
        for (int i = 0; i < GAMES; i++) {
            line_string(&line, i == 0 ? "" : ", ");
            line_string(&line, game_name(game_at(i)));
        }
    } else if (error->code != VARIANT_OK) {
        line_string(&line, "; house rules of ");
        line_string(&line, game_name(error->game));
        line_string(&line, ": ");
        variant_rules_print(error->game, rules, sizeof rules);
        line_string(&line, rules[0] != '\0' ? rules : "none");
    }
    return line_end(&line);
}

size_t variant_rules_print(const struct game *game, char *text, size_t size)
{
    struct line line = line_start(text, size);

    line_rules(&line, game);
    return line_end(&line);
}

size_t variant_print(const struct variant *variant, bool all, char *text, size_t size)
{
    struct line line = line_start(text, size);

    line_string(&line, game_name(variant->game));
    for (unsigned i = 0; i < HOUSE_RULES; i++) {
        const struct house_rule *rule = &house_rules[i];
        uint8_t value = *((const uint8_t *)variant + rule->field);

        if (!game_has_rule(variant->game, rule) || (value == 0 && !all))
            continue;
        line_char(&line, ' ');
        line_string(&line, rule->key);
        line_char(&line, '=');
        line_string(&line, rule->values[value]);
    }
    return line_end(&line);
}

bool variant_is_equal(const struct variant *a, const struct variant *b)
{
    return a->game == b->game && a->inert == b->inert && a->queens == b->queens &&
           a->promotion == b->promotion && a->reserve == b->reserve;
}

const char *variant_array(const struct variant *variant, enum seat seat)
{
    assert(variant->queens < 2);
    return variant->game->table->arrays[variant->queens][seat];
}
