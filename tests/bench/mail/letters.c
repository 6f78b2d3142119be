/*
 * bench/mail/letters - puts letters into an outbox, composed already.
 *
 *   bench_letters DATABASE LETTERS LETTER
 *
 * LETTER is a file with a letter as it goes on the wire (CR LF); every row gets its bytes, an
 * address of example.net and a message id of its own.  The rows are put as the daemon puts them,
 * by the writer, 500 a command.  No daemon may have the file open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "store/outbox.h"
#include "store/writer.h"

enum { AT_ONCE = 500, LETTER_MAX = 1024 * 1024 };

struct batch {
    long from, to;
    unsigned char *bytes;
    size_t n;
};

static enum status batch_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct batch *b = arg;
    enum status st = ST_OK;

    for (long i = b->from; i < b->to && st == ST_OK; i++) {
        struct intent_row row = INTENT_ROW_INIT;
        row.cls = NOTICE_LOGIN;
        row.channel = CHANNEL_MAIL;
        row.due_at = row.created_at = now;
        row.expires_at = now + MS_DAY;
        row.bytes = b->bytes;
        row.bytes_len = b->n;
        (void)snprintf(row.dedupe_key, sizeof row.dedupe_key, "bench/%ld", i);
        (void)snprintf(row.template_name, sizeof row.template_name, "login");
        (void)snprintf(row.address, sizeof row.address, "player%ld@example.net", i);
        (void)snprintf(row.envelope_from, sizeof row.envelope_from, "club@example.org");
        (void)snprintf(row.envelope_to, sizeof row.envelope_to, "player%ld@example.net", i);
        (void)snprintf(row.message_id, sizeof row.message_id, "bench.%ld@example.org", i);
        st = outbox_put_composed(txn, &row, NULL, err);
    }
    return st;
}

static utc_ms now_read(void *arg)
{
    (void)arg;
    return clock_os().read(NULL).wall_at;
}

int main(int argc, char **argv)
{
    struct store_options options = {.path = argc == 4 ? argv[1] : NULL};
    struct writer_options writing = {.time = {.now = now_read}};
    struct batch b = {.bytes = malloc(LETTER_MAX)};
    struct store *store = NULL;
    struct writer *writer = NULL;
    struct err err = ERR_INIT;
    FILE *file = argc == 4 ? fopen(argv[3], "rb") : NULL;
    long letters = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    enum status st;

    if (!file || !b.bytes || letters <= 0) {
        fprintf(stderr, "usage: bench_letters DATABASE LETTERS LETTER\n");
        return 2;
    }
    b.n = fread(b.bytes, 1, LETTER_MAX, file);
    fclose(file);
    st = store_open(&options, &store, &err);
    writing.store = store;
    if (st == ST_OK)
        st = writer_open(&writing, &writer, &err);
    while (st == ST_OK && b.to < letters) {
        const struct writer_command command = {.name = "bench", .run = batch_run, .arg = &b};
        b.from = b.to;
        b.to = b.from + AT_ONCE < letters ? b.from + AT_ONCE : letters;
        st = writer_run(writer, &command, &err);
    }
    if (st != ST_OK)
        fprintf(stderr, "bench_letters: %s\n", err.text);
    writer_close(writer);
    store_close(store);
    free(b.bytes);
    return st == ST_OK ? 0 : 1;
}
