/*
 * plain/plain_check.c - the plain implementation against worked positions.
 *
 *     plain_check FILE...           case lines of R-T4, packed if the name ends in .gz ("-" is
 *                                   standard input); one that disagrees is printed with both
 *                                   answers, exit status 1
 *     plain_check --perft GAME N    lines of play from the array, by depth
 */
#include "plain/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << 16 };

static const struct plain_house usual = {false, false, false};

static void print_moves(const struct plain_move *moves, size_t n, char *text)
{
    size_t i;

    for (i = 0, text[0] = '\0'; i < n; i++) {
        plain_print_move(&moves[i], text);
        text += strlen(text);
        *text++ = i + 1 < n ? ' ' : '\0';
    }
}

/* Play the word, a move or "resign" + colour; false if it is neither. */
static bool play_word(struct plain_position *p, const char *word, const struct plain_move *moves,
                      size_t n)
{
    size_t i;
    int seat;

    for (seat = 0; seat < 4 && strncmp(word, "resign ", 7) == 0; seat++)
        if (word[7] == plain_colour(p->game, seat) && p->condition[seat] != 'x') {
            plain_resign(p, seat);
            return true;
        }
    for (i = 0; i < n; i++) {
        char text[PLAIN_MOVE_TEXT];

        plain_print_move(&moves[i], text);
        if (strcmp(text, word) == 0) {
            plain_play(p, &moves[i]);
            return true;
        }
    }
    return false;
}

static bool check_line(char *line)
{
    static struct plain_move moves[PLAIN_MOVES];
    static char list[PLAIN_MOVES * PLAIN_MOVE_TEXT];
    char *legal, *word, *after, why[PLAIN_WHY], text[PLAIN_TEXT];
    struct plain_position p;
    size_t n;

    line[strcspn(line, "\n")] = '\0';
    if (!(legal = strstr(line, " | ")) || !(word = strstr(legal + 3, " | ")) ||
        !(after = strstr(word + 3, " -> "))) {
        printf("not a case: %s\n", line);
        return false;
    }
    *legal = *word = *after = '\0';
    legal += 3;
    word += 3;
    after += 4;
    if (!plain_parse(line, usual, &p, why)) {
        printf("%s: %s\n", line, why);
        return false;
    }
    plain_print(&p, text);
    if (strcmp(text, line) != 0) {
        printf("read  %s\nwrote %s\n", line, text);
        return false;
    }
    n = plain_legal_moves(&p, p.turn, moves);
    print_moves(moves, n, list);
    if (strcmp(list, legal) != 0) {
        printf("%s\n  said  %s\n  found %s\n", line, legal, list);
        return false;
    }
    if (!play_word(&p, word, moves, n)) {
        printf("%s\n  %s cannot be played\n", line, word);
        return false;
    }
    if (p.result == PLAIN_GOING)
        plain_print(&p, text);
    else
        (void)snprintf(text, sizeof text, "%s", plain_result_name(p.result));
    if (strcmp(text, after) != 0) {
        printf("%s\n  %s\n  said  %s\n  found %s\n", line, word, after, text);
        return false;
    }
    return true;
}

static bool check_file(const char *name)
{
    static char line[LINE];
    size_t length = strlen(name);
    bool packed = length > 3 && strcmp(name + length - 3, ".gz") == 0;
    FILE *f;
    long lines = 0, wrong = 0;

    if (packed) {
        (void)snprintf(line, sizeof line, "gzip -dc '%s'", name);
        f = popen(line, "r"); /* of a test's own file; style: banned */
    } else {
        f = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    }
    if (!f) {
        perror(name);
        return false;
    }
    while (fgets(line, sizeof line, f)) {
        lines++;
        if (!check_line(line))
            wrong++;
    }
    if (packed && pclose(f) != 0)
        wrong++;
    else if (!packed && f != stdin)
        (void)fclose(f);
    printf("%s: %ld lines, %ld disagree\n", name, lines, wrong);
    return lines > 0 && wrong == 0;
}

static unsigned long long perft(const struct plain_position *p, int depth)
{
    struct plain_move moves[PLAIN_MOVES];
    size_t i, n = p->result == PLAIN_GOING ? plain_legal_moves(p, p->turn, moves) : 0;
    unsigned long long total = 0;

    if (depth == 1)
        return n;
    for (i = 0; i < n; i++) {
        struct plain_position next = *p;

        plain_play(&next, &moves[i]);
        total += perft(&next, depth - 1);
    }
    return total;
}

/* R-T3 */
static int count_lines_of_play(const char *name, int depth)
{
    struct plain_position p;
    int game, d;

    for (game = 0; game < 3; game++)
        if (strcmp(name, plain_game_name((enum plain_game)game)) == 0)
            break;
    if (game == 3 || depth < 1) {
        fprintf(stderr, "plain_check: no such game or depth\n");
        return 2;
    }
    plain_start((enum plain_game)game, usual, &p);
    for (d = 1; d <= depth; d++)
        printf("%s%llu", d > 1 ? " " : "", perft(&p, d));
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    bool all = true;
    int i;

    if (argc == 4 && strcmp(argv[1], "--perft") == 0)
        return count_lines_of_play(argv[2], (int)strtol(argv[3], NULL, 10));
    if (argc < 2) {
        fprintf(stderr, "usage: plain_check FILE... | plain_check --perft GAME DEPTH\n");
        return 2;
    }
    for (i = 1; i < argc; i++)
        if (!check_file(argv[i]))
            all = false;
    return all ? 0 : 1;
}
