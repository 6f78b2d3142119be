/*
 * bench/mail/hostile.c - what letters of 1 MiB made to cost as much as they can do cost (P29).
 *
 *     bench_hostile [REPEAT [NAME]]
 *
 * Each letter of tests/mail/hostile.c goes the whole way, in a process and on a database of its own
 * (on /dev/shm where there is one): accepted and stored, claimed, read, judged, its answer put into
 * the outbox, settled.  Printed are the processor time of the whole process
 * meanwhile (CLOCK_PROCESS_CPUTIME_ID: the writer's thread is in it), the least and the median of
 * REPEAT (5) tries that differ in their Message-ID, and by how much resident memory rose at most in
 * the first.  The least is held to the bar: what else runs on the machine only adds.
 * Before that a small letter warms the process up; the heaps are bounded as the daemon's are.
 * With a NAME it is the letter of that name alone.  Exit status 2: some letter is above a bar.
 */
#include "support/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/str.h"
#include "intake/post.h"
#include "mail/hostile.h"

enum { CPU_BAR_US = 50 * 1000, MEMORY_BAR_KIB = 32 * 1024, REPEAT_MAX = 99 };

struct cost {
    long cpu_us[REPEAT_MAX];
    long memory_kib;
    char verdict[40];
};

static int repeat = 5;

static long cpu_us(void)
{
    struct timespec at;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at) != 0)
        abort();
    return (long)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/* A figure of /proc/self/status, in KiB. */
static long status_kib(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    long kib = 0;

    if (!f)
        abort();
    while (fgets(line, sizeof line, f))
        if (str_starts(line, name))
            kib = strtol(line + strlen(name), NULL, 10);
    (void)fclose(f);
    return kib;
}

/* From here on VmHWM is what was resident at most since. */
static void forget_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY);

    if (fd < 0 || write(fd, "5", 1) != 1)
        abort();
    (void)close(fd);
}

/* The letter under another Message-ID, which does not change its length. */
static void rename_letter(struct buf *letter, int n)
{
    static const char before[] = "\nMessage-ID: <";
    char *at = strstr(letter->data, before);

    if (!at)
        abort();
    at[sizeof before - 1] = (char)('a' + n % 26);
    at[sizeof before] = (char)('a' + n / 26);
}

static void measure(size_t i, struct cost *cost)
{
    struct buf letter = buf_make(HOSTILE_SIZE);
    struct post *p;
    void *state = NULL;
    int64_t game;
    long before;

    if (post_setup(&state) != 0)
        abort();
    p = state;
    game = game_start(p->t, "teams");
    (void)post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "board");
    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_TURN, game, game_get(p->t, game).state_no, 0,
                   now_of(p->t) + 60 * MS_DAY);
    hostile_make(i, POST_TOKEN, &letter);
    for (int k = 0; k < repeat; k++) {
        const struct post_result *r;

        rename_letter(&letter, k);
        if (k == 0) {
            cost->memory_kib = -status_kib("VmRSS:");
            forget_peak();
        }
        before = cpu_us();
        r = post_raw(p, "anna@example.org", "play+" POST_TOKEN "@club.example", letter.data,
                     letter.len);
        cost->cpu_us[k] = cpu_us() - before;
        if (k == 0) {
            cost->memory_kib += status_kib("VmHWM:");
            (void)snprintf(cost->verdict, sizeof cost->verdict, "%s%s",
                           inbox_verdict_str(r->row.verdict), r->has_answer ? ", answered" : "");
        }
    }
    buf_release(&letter);
    (void)post_teardown(&state);
}

static bool measure_apart(size_t i, struct cost *cost)
{
    int ends[2], status = 0;
    pid_t child;
    bool is_read;

    if (pipe(ends) != 0 || fflush(stdout) != 0 || (child = fork()) < 0)
        return false;
    if (child == 0) {
        measure(i, cost);
        _exit(write(ends[1], cost, sizeof *cost) == (ssize_t)sizeof *cost ? 0 : 1);
    }
    (void)close(ends[1]);
    is_read = read(ends[0], cost, sizeof *cost) == (ssize_t)sizeof *cost;
    (void)close(ends[0]);
    return waitpid(child, &status, 0) == child && is_read && status == 0;
}

static utc_ms never(void *arg)
{
    (void)arg;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const long *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    long cpu_max = 0, memory_max = 0;
    size_t above = 0;

    if (argc > 1)
        repeat = (int)strtol(argv[1], NULL, 10);
    if (repeat < 1 || repeat > REPEAT_MAX)
        return 1;
    log_init(LOG_LEVEL_ERROR, never, NULL);
    memory_tune(); /* as the daemon does */
    for (size_t i = 0; i < hostile_count(); i++) {
        struct cost cost;
        long least, median;
        bool is_above;

        if (argc > 2 && strcmp(argv[2], hostile_name(i)) != 0)
            continue;
        memset(&cost, 0, sizeof cost);
        if (!measure_apart(i, &cost)) {
            (void)fprintf(stderr, "%s: failed\n", hostile_name(i));
            return 1;
        }
        qsort(cost.cpu_us, (size_t)repeat, sizeof cost.cpu_us[0], by_value);
        least = cost.cpu_us[0];
        median = cost.cpu_us[repeat / 2];
        is_above = least > CPU_BAR_US || cost.memory_kib > MEMORY_BAR_KIB;
        above += is_above;
        cpu_max = least > cpu_max ? least : cpu_max;
        memory_max = cost.memory_kib > memory_max ? cost.memory_kib : memory_max;
        (void)printf("%-32s %6.1f ms (median %6.1f) %6.1f MiB  %s%s\n", hostile_name(i),
                     (double)least / 1000, (double)median / 1000, (double)cost.memory_kib / 1024,
                     cost.verdict, is_above ? "  ABOVE" : "");
    }
    (void)printf("%zu letters of 1 MiB: %.1f ms and %.1f MiB at most (bars 50 and 32), %zu above\n",
                 hostile_count(), (double)cpu_max / 1000, (double)memory_max / 1024, above);
    return above > 0 ? 2 : 0;
}
