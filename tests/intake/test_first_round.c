/*
 * docs/mail-first-round.txt is what happens: each letter of it is written, each answer compared.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/post.h"

enum { BLOCK_MAX = 8192, LINE_ROOM = 512 };

struct replay {
    struct post *p;
    FILE *f;
    int line;
    int64_t game;
    char public_id[GAME_PUBLIC_ID_SIZE];
    char held[BLOCK_MAX];  /* the head of the next block, read ahead; "" */
    int letters;
};

static const struct post_result *last;

/* "GAME" stands for the game's name. */
static void with_game(const struct replay *r, char *text, size_t size)
{
    char copy[BLOCK_MAX], *at, *to = copy;
    const char *from = text;

    while ((at = strstr(from, "GAME")) != NULL) {
        to += snprintf(to, sizeof copy - (size_t)(to - copy), "%.*s%s", (int)(at - from), from,
                       r->public_id);
        from = at + 4;
    }
    (void)snprintf(to, sizeof copy - (size_t)(to - copy), "%s", from);
    assert_true(str_copy(text, size, copy));
}

static bool is_head(const char *line)
{
    return str_starts(line, "To: ") || str_starts(line, "From: ") || str_starts(line, "Time: ");
}

/* The next head in `head`, and the lines below it without comments, blank ends taken off. */
static bool next_block(struct replay *r, char head[LINE_ROOM], char body[BLOCK_MAX])
{
    char line[LINE_ROOM];
    size_t n = 0;

    head[0] = body[0] = '\0';
    (void)str_copy(head, LINE_ROOM, r->held);
    r->held[0] = '\0';
    while (fgets(line, sizeof line, r->f)) {
        r->line++;
        if (line[0] == '#')
            continue;
        if (is_head(line)) {
            line[strcspn(line, "\n")] = '\0';
            if (head[0]) {
                (void)str_copy(r->held, sizeof r->held, line);
                break;
            }
            (void)str_copy(head, LINE_ROOM, line);
            continue;
        }
        if (!head[0])
            continue;
        assert_true(n + strlen(line) < BLOCK_MAX);
        memcpy(body + n, line, strlen(line) + 1);
        n += strlen(line);
    }
    while (n > 0 && isspace((unsigned char)body[n - 1]))
        body[--n] = '\0';
    return head[0] != '\0';
}

static int user_of(const char *name)
{
    static const char *const handles[] = {"anna", "boris", "clara", "david"};

    for (int i = 0; i < (int)COUNT_OF(handles); i++)
        if (str_starts(name, handles[i]))
            return i;
    fail_msg("who is %s?", name);
    return -1;
}

static void write_letter(struct replay *r, const char *head, const char *body)
{
    static const struct {
        const char *word;
        enum token_purpose purpose;
    } kinds[] = {{"account", TOKEN_ACCOUNT}, {"invitation", TOKEN_INVITATION},
                 {"turn", TOKEN_TURN},       {"receipt", TOKEN_RECEIPT},
                 {"draw", TOKEN_DRAW}};
    const char *by = strstr(head, "by "), *answering = strstr(head, "answering ");
    const char *token = NULL;
    int user;

    assert_non_null(by);
    user = user_of(by + 3);
    for (size_t i = 0; answering && i < COUNT_OF(kinds); i++)
        if (str_eq(answering + strlen("answering "), kinds[i].word))
            token = post_token(r->p, user, kinds[i].purpose,
                               kinds[i].purpose == TOKEN_ACCOUNT ? 0 : r->game);
    assert_true(!answering || token);
    last = post_say(r->p, user, token, body);
    r->letters++;
    if (r->game == 0 && last->row.game_id != 0) {
        r->game = last->row.game_id;
        (void)str_copy(r->public_id, sizeof r->public_id, game_get(r->p->t, r->game).public_id);
    }
}

static void compare_answer(struct replay *r, const char *head, const char *wanted)
{
    char want[BLOCK_MAX], got[BLOCK_MAX];
    size_t n;

    assert_non_null(last);
    assert_true(last->has_answer);
    assert_int_equal(last->to_user, r->p->t->user[user_of(strstr(head, "to ") + 3)]);
    (void)str_copy(want, sizeof want, wanted);
    with_game(r, want, sizeof want);
    (void)str_copy(got, sizeof got, last->text);
    for (n = strlen(got); n > 0 && isspace((unsigned char)got[n - 1]);)
        got[--n] = '\0';
    /* No-break spaces are blanks in the page. */
    for (char *at; (at = strstr(got, "\xc2\xa0")) != NULL;) {
        *at = ' ';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
    if (strcmp(want, got) != 0)
        fail_msg("before line %d the page has\n%s\n-- and the answer is\n%s", r->line, want, got);
    last = NULL;
}

static void test_the_first_round_goes_as_the_page_says(void **state)
{
    struct replay r = {.p = *state};
    char head[LINE_ROOM], body[BLOCK_MAX];

    r.f = fopen(FH_SOURCE_DIR "/docs/mail-first-round.txt", "r");
    assert_non_null(r.f);
    while (next_block(&r, head, body)) {
        if (str_starts(head, "To: ")) {
            assert_null(last); /* each letter's answer stands on the page */
            write_letter(&r, head, body);
        } else if (str_starts(head, "From: ")) {
            compare_answer(&r, head, body);
        } else {
            struct err err = ERR_INIT;
            int64_t ms;

            assert_ok(length_parse(head + strlen("Time: "), &ms, &err), err);
            for (; ms > 0; ms -= MS_MINUTE) {
                pass(r.p->t, MS_MINUTE);
                tick_all(r.p->t, false);
            }
        }
    }
    (void)fclose(r.f);
    assert_true(r.letters >= 12);
    assert_int_equal(game_get(r.p->t, r.game).ply, 4);
    assert_sound(r.p->t, r.game);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_first_round_goes_as_the_page_says, post_setup,
                                        post_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
