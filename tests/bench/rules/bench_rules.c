/*
 * tests/bench/rules/bench_rules.c - how fast the rules library counts lines of moves.
 *
 *     bench_rules [--rounds N] [--engine plain|avx2|avx512] [--peer CMD]
 *
 * Prints, for the three games, million lines a second with the last move counted (bulk) and with
 * it made and unmade (each): the median of N rounds (default 5), one thread, no hash table,
 * processor time.  A calibration loop of plain integer work runs in every round, so that figures
 * of different machines, or of a busy one, can be set against each other.
 *
 * With --peer, a program built elsewhere is run in turn with ours: `CMD bulk 6` and `CMD each 6`
 * must print the number of lines of the modern team game to that depth as its first word
 * (77430383).  Its processor time is that of the whole process.  The ratio printed is ours to
 * theirs, the median over the rounds; below 1 we are slower.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rules/engine.h"
#include "rules/perft.h"

enum { ROUNDS_MAX = 99 };

struct task {
    const char *variant;
    int depth;
    enum perft_mode mode;
    int repeats; /* so that one round takes a tenth of a second or more */
    uint64_t lines;
};

static const struct task tasks[] = {
    {"teams", 6, PERFT_BULK, 1, 77430383},
    {"teams", 6, PERFT_EACH, 1, 77430383},
    {"verney", 6, PERFT_BULK, 6, 5339329},
    {"verney", 6, PERFT_EACH, 3, 5339329},
    {"fortress reserve=usual", 4, PERFT_BULK, 40, 1155527},
    {"fortress reserve=usual", 4, PERFT_EACH, 10, 1155527},
};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

static double seconds_used(int who)
{
    struct rusage usage;

    getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof values[0], compare_doubles);
    return values[n / 2];
}

/* Million steps a second of a loop that every machine runs alike. */
static double calibrate(void)
{
    enum { STEPS = 40000000 };
    static volatile uint64_t sink;
    double begin = seconds_now();
    uint64_t z = 1;

    for (int i = 0; i < STEPS; i++) {
        z += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    }
    sink = z;
    (void)sink;
    return STEPS / (seconds_now() - begin) / 1e6;
}

static double run_task(const struct task *task)
{
    struct variant variant;
    struct position pos;
    double begin;
    uint64_t lines = 0;

    if (variant_parse(task->variant, &variant, NULL) != VARIANT_OK ||
        position_start(&variant, NULL, &pos) != RESERVE_OK)
        abort();
    begin = seconds_now();
    for (int i = 0; i < task->repeats; i++)
        lines += perft(&pos, task->depth, task->mode);
    begin = seconds_now() - begin;
    if (lines != task->lines * (uint64_t)task->repeats) {
        fprintf(stderr, "%s: %" PRIu64 " lines, not %" PRIu64 "\n", task->variant, lines,
                task->lines * (uint64_t)task->repeats);
        exit(1);
    }
    return (double)lines / begin / 1e6;
}

/* Runs `CMD MODE 6` by the shell and reads the first number it prints. */
static double run_peer(const char *command, const char *mode)
{
    char answer[64] = "", script[4096];
    double begin = seconds_used(RUSAGE_CHILDREN);
    size_t have = 0;
    int ends[2], status;
    ssize_t n;
    pid_t child;

    snprintf(script, sizeof script, "%s %s 6", command, mode);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        abort();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((n = read(ends[0], answer + have, sizeof answer - 1 - have)) > 0)
        have += (size_t)n;
    close(ends[0]);
    if (waitpid(child, &status, 0) != child || status != 0 ||
        strtoull(answer, NULL, 10) != tasks[0].lines) {
        fprintf(stderr, "peer: '%s' says '%s', not %" PRIu64 "\n", script, answer, tasks[0].lines);
        exit(1);
    }
    return (double)tasks[0].lines / (seconds_used(RUSAGE_CHILDREN) - begin) / 1e6;
}

int main(int argc, char **argv)
{
    double ours[TASKS][ROUNDS_MAX], theirs[2][ROUNDS_MAX], ratios[2][ROUNDS_MAX], loop[ROUNDS_MAX];
    const char *peer = NULL;
    int rounds = 5;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--peer") == 0 && i + 1 < argc) {
            peer = argv[++i];
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = (int)strtol(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--engine") == 0 && i + 1 < argc) {
            if (!engine_choose(argv[++i])) {
                fprintf(stderr, "no engine '%s' on this machine\n", argv[i]);
                return 2;
            }
        } else {
            fprintf(stderr, "usage: bench_rules [--rounds N] [--engine NAME] [--peer CMD]\n");
            return 2;
        }
    }
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "--rounds takes 1 to %d\n", ROUNDS_MAX);
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        loop[round] = calibrate();
        for (int i = 0; i < TASKS; i++) {
            ours[i][round] = run_task(&tasks[i]);
            if (peer != NULL && i < 2) {
                theirs[i][round] = run_peer(peer, i == 0 ? "bulk" : "each");
                ratios[i][round] = ours[i][round] / theirs[i][round];
            }
        }
    }
    printf("engine %s, %d rounds, calibration loop %.0f M steps/s\n", perft_engine(), rounds,
           median(loop, rounds));
    for (int i = 0; i < TASKS; i++)
        printf("%-24s depth %d  %-4s  %7.1f M lines/s\n", tasks[i].variant, tasks[i].depth,
               tasks[i].mode == PERFT_BULK ? "bulk" : "each", median(ours[i], rounds));
    if (peer == NULL) {
        printf("no peer\n");
        return 0;
    }
    for (int i = 0; i < 2; i++)
        printf("peer, teams depth 6 %s  %7.1f M lines/s, ratio %.2f\n", i == 0 ? "bulk" : "each",
               median(theirs[i], rounds), median(ratios[i], rounds));
    return 0;
}
