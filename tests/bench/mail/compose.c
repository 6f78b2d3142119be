/*
 * bench/mail/compose - how long the courier takes to compose a turn's letter.
 *
 *   bench_compose LETTERS FILE
 *
 * A game of four, in memory; its first letter (board as picture and text, token, deadline in the
 * player's zone) is composed LETTERS times.  Prints "COMPOSED PER-SECOND BYTES"; the letter's bytes
 * go to FILE.
 */
#include "notify/club.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return outbox_claim(txn, CHANNEL_MAIL, now, MS_DAY, arg, err);
}

int main(int argc, char **argv)
{
    long letters = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    struct intent_row intent = INTENT_ROW_INIT;
    struct store_reader *reader = NULL;
    struct err err = ERR_INIT;
    struct club *c;
    double from;
    size_t n = 0;
    FILE *file;

    if (letters <= 0) {
        fprintf(stderr, "usage: bench_compose LETTERS FILE\n");
        return 2;
    }
    memory_tune(); /* as the daemon does */
    c = club_open_by_mail("+");
    (void)game_start(c->t, "verney");
    do {
        intent_release(&intent);
        intent = INTENT_ROW_INIT;
        club_run(c, claim_run, &intent);
    } while (intent.cls != NOTICE_START && intent.cls != NOTICE_TURN);
    if (store_reader_open(c->t->store, &reader, &err) != ST_OK)
        return 1;
    from = now_s();
    for (long i = 0; i < letters; i++) {
        enum notice_fate fate;
        struct notice notice = {.why = NULL};
        if (notify_compose(c->notify, store_reader_conn(reader), &intent, c->t->clock.wall_at,
                           &fate, &notice, &err) != ST_OK ||
            fate != NOTICE_SEND) {
            fprintf(stderr, "bench_compose: %s\n", err.text);
            return 1;
        }
        n = notice.bytes.len;
        if (i == 0) {
            file = fopen(argv[2], "wb");
            if (!file || fwrite(notice.bytes.data, 1, n, file) != n || fclose(file) != 0) {
                perror(argv[2]);
                return 1;
            }
        }
        notice_release(&notice);
    }
    printf("%ld %.1f %zu\n", letters, (double)letters / (now_s() - from), n);
    store_reader_close(reader);
    intent_release(&intent);
    club_close(c);
    return 0;
}
