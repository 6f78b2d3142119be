#include "intake/intake.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "intake/guard.h"
#include "intake/internal.h"
#include "mail/addressee.h"

enum { MIB = 1024 * 1024, HEADER_LOOKED_AT = 64 * 1024 };
#define RETRY_MS MS_SECOND /* after a failure that may pass */

struct intake {
    struct intake_options options;
    pthread_t thread;
    bool is_started;
    int wake[2];             /* a pipe: a byte says that there may be something to do */
    atomic_bool is_stopping;
    pthread_mutex_t lock;    /* over what follows */
    pthread_cond_t looked;   /* n_looked has grown */
    uint64_t n_asked, n_looked; /* how often intake_settle() asked, and up to which it was done */
    struct intake_stats stats;
};

/* ------------------------------------------------------------------------------- open and close */

static bool is_address(const char *address)
{
    return address && address_is_fit(address, NULL) == ST_OK;
}

enum status intake_open(const struct intake_options *options, struct intake **ret, struct err *err)
{
    struct intake *in;

    if (!is_address(options->address))
        return err_reason(err, REASON_BAD_FIELD, "play by mail needs an address");
    if (options->delimiter && !str_eq(options->delimiter, "") && !str_eq(options->delimiter, "+") &&
        !str_eq(options->delimiter, "-"))
        return err_reason(err, REASON_BAD_FIELD, "the delimiter must be +, - or nothing");
    in = calloc(1, sizeof *in);
    if (!in)
        return err_reason(err, REASON_NO_MEMORY, "play by mail");
    in->options = *options;
    if (in->options.letter_size == 0)
        in->options.letter_size = MIB;
    if (pipe(in->wake) != 0) {
        free(in);
        return err_set(err, ST_IO, "no pipe for letters: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(in->wake[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(in->wake[i], F_SETFL, O_NONBLOCK);
    }
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->looked, NULL);
    *ret = in;
    return ST_OK;
}

void intake_close(struct intake *in)
{
    if (!in)
        return;
    intake_stop(in);
    pthread_cond_destroy(&in->looked);
    pthread_mutex_destroy(&in->lock);
    (void)close(in->wake[0]);
    (void)close(in->wake[1]);
    free(in);
}

struct intake_stats intake_stats(struct intake *in)
{
    struct intake_stats stats;

    pthread_mutex_lock(&in->lock);
    stats = in->stats;
    pthread_mutex_unlock(&in->lock);
    return stats;
}

/* ------------------------------------------------------------------------------- letting in */

enum intake_recipient intake_recipient_check(const struct intake *in, const char *recipient)
{
    char token[SECRET_SIZE];

    return recipient_read(&in->options, recipient, token);
}

/* One letter on its way into the inbox. */
struct arrival {
    struct intake *in;
    struct inbox_row row;
    bool is_new;
    int64_t id;
    intake_done_fn *done;
    void *arg;
};

static void arrival_free(struct arrival *arrival)
{
    inbox_row_release(&arrival->row);
    free(arrival);
}

static int judge_address(void *arg, const char *address)
{
    const struct intake_options *options = arg;
    char token[SECRET_SIZE];

    switch (recipient_read(options, address, token)) {
    case INTAKE_FOREIGN:
        return 0;
    case INTAKE_PLAY:
        return token[0] ? 2 : 1;
    default:
        return 2;
    }
}

/* The id of the first Message-ID header, for the operator's lists only; "" when it is odd. */
static void message_id_find(const char *bytes, size_t n, char *ret, size_t size)
{
    static const char name[] = "message-id:";
    const char *end = bytes + (n < HEADER_LOOKED_AT ? n : HEADER_LOOKED_AT), *line = bytes;

    ret[0] = '\0';
    while (line < end && *line != '\n' && *line != '\r') {
        const char *next = memchr(line, '\n', (size_t)(end - line));

        next = next ? next + 1 : end;
        if ((size_t)(next - line) > sizeof name && strncasecmp(line, name, sizeof name - 1) == 0) {
            const char *from = memchr(line, '<', (size_t)(next - line)), *to;

            to = from ? memchr(from, '>', (size_t)(next - from)) : NULL;
            if (to && (size_t)(to - from) <= size) {
                size_t used = 0;

                for (const char *c = from + 1; c < to; c++)
                    if (*c > ' ' && *c < 0x7f)
                        ret[used++] = *c;
                ret[used] = '\0';
            }
            return;
        }
        line = next;
    }
}

/* What makes two letters one: whom it was for, and the letter. */
static void fingerprint(const struct intake *in, const char *recipient, const void *bytes, size_t n,
                        unsigned char ret[DIGEST_SIZE])
{
    unsigned char whole[ADDRESS_SIZE + DIGEST_SIZE];
    size_t used = strlen(recipient);

    for (size_t i = 0; i < used; i++)
        whole[i] = (unsigned char)char_lower(recipient[i]);
    mail_fingerprint(bytes, n, &in->options.digest, whole + used);
    in->options.digest.sha256(in->options.digest.arg, whole, used + DIGEST_SIZE, ret);
}

/* Whether the letter may come in, and the row it becomes; raw is a copy. */
static enum status arrival_make(struct intake *in, const struct intake_arrival *from,
                                struct arrival **ret, struct err *err)
{
    struct arrival *to = NULL;
    char token[SECRET_SIZE], found[ADDRESSEE_SIZE];
    char sender[ADDRESSEE_SIZE] = "?"; /* not known, which is not the same as null */
    const char *recipient = from->recipient, *at;
    enum intake_recipient kind;

    if (from->n > in->options.letter_size)
        return ERR_DETAIL(err, REASON_TOO_LARGE, "refusal.letter_large",
                          "the letter has {size} bytes; {most} are taken",
                          ERR_NUMBER("size", from->n), ERR_NUMBER("most", in->options.letter_size));
    if (!recipient && addressee_find(from->bytes, from->n, judge_address, &in->options, found))
        recipient = found;
    kind = recipient ? recipient_read(&in->options, recipient, token) : INTAKE_FOREIGN;
    if (kind == INTAKE_FOREIGN || strlen(recipient) >= ADDRESS_SIZE)
        return err_detail(err, REASON_BAD_FIELD, "refusal.nobody_here",
                          "nobody of that address is here");
    if (!from->sender)
        (void)addressee_sender(from->bytes, from->n, sender);
    to = calloc(1, sizeof *to);
    if (to)
        to->row.raw = malloc(from->n > 0 ? from->n : 1);
    if (!to || !to->row.raw) {
        free(to);
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    }
    to->in = in;
    to->row.claimed_at = to->row.settled_at = UTC_NONE;
    to->row.way = from->way;
    to->row.received_at = from->received_at;
    if (from->n > 0)
        memcpy(to->row.raw, from->bytes, from->n);
    to->row.raw_len = from->n;
    to->row.size = (int64_t)from->n;
    (void)str_copy(to->row.sender, sizeof to->row.sender, from->sender ? from->sender : sender);
    at = strrchr(recipient, '@');
    if (kind == INTAKE_PLAY && token[0]) {
        to->row.has_token = true;
        secret_hash(token, to->row.token_hash);
        (void)snprintf(to->row.recipient, sizeof to->row.recipient, "%.*s…%s",
                       (int)(at - recipient - (SECRET_SIZE - 1)), recipient, at);
    } else {
        (void)str_copy(to->row.recipient, sizeof to->row.recipient, recipient);
    }
    message_id_find(from->bytes, from->n, to->row.message_id, sizeof to->row.message_id);
    fingerprint(in, recipient, from->bytes, from->n, to->row.fingerprint);
    *ret = to;
    return ST_OK;
}

/* Whether the game is still in the state that an answer speaks of. */
static enum status is_of_now(struct store_conn *conn, const struct intent_row *intent,
                             bool *ret_is, struct err *err)
{
    struct game_row *game = malloc(sizeof *game);
    enum status st = game ? games_get(conn, intent->game_id, game, err)
                          : err_reason(err, REASON_NO_MEMORY, "a game");

    if (st == ST_OK)
        *ret_is = game->state_no == intent->state_no;
    free(game);
    return st;
}

/* One answer to a letter: a repeat gets it anew, once, only if it could not be handed over and is
 * still true, that is, the game has not moved on (P21). */
static enum status answer_again(struct store_txn *txn, utc_ms now, int64_t inbox_id,
                                struct err *err)
{
    struct inbox_row row = INBOX_ROW_INIT;
    struct intent_row intent = INTENT_ROW_INIT;
    utc_ms life;
    bool is_true = true;
    enum status st = inbox_get(store_txn_conn(txn), inbox_id, false, &row, err);

    if (st != ST_OK || row.answer_id == 0)
        goto out;
    st = outbox_get(store_txn_conn(txn), row.answer_id, &intent, err);
    if (st == ST_NOT_FOUND) { /* purged */
        st = ST_OK;
        goto out;
    }
    if (st != ST_OK)
        goto out;
    if (intent.state != OUTBOX_FAILED && intent.state != OUTBOX_EXPIRED) /* sent, or it will be */
        goto out;
    if (intent.game_id != 0) {
        st = is_of_now(store_txn_conn(txn), &intent, &is_true, err);
        if (st != ST_OK || !is_true)
            goto out;
    }
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "answer:%" PRId64 ":again",
                   inbox_id);
    life = intent.expires_at - intent.created_at;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + life;
    st = outbox_put(txn, &intent, NULL, err);
out:
    intent_release(&intent);
    inbox_row_release(&row);
    return st;
}

static enum status arrival_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct arrival *arrival = arg;

    if (arrival->row.received_at == UTC_NONE || arrival->row.received_at > now)
        arrival->row.received_at = now;
    TRY(inbox_put(txn, &arrival->row, &arrival->id, &arrival->is_new, err));
    return arrival->is_new ? ST_OK : answer_again(txn, now, arrival->id, err);
}

static void arrival_count(struct intake *in, bool is_new)
{
    pthread_mutex_lock(&in->lock);
    if (is_new)
        in->stats.accepted++;
    else
        in->stats.repeated++;
    if (!is_new)
        in->stats.verdicts[INBOX_VERDICT_DUPLICATE]++;
    pthread_mutex_unlock(&in->lock);
    intake_wake(in);
}

static void arrival_done(void *arg, enum status st, const struct err *err)
{
    struct arrival *arrival = arg;

    if (st == ST_OK)
        arrival_count(arrival->in, arrival->is_new);
    arrival->done(arrival->arg, st, err);
    arrival_free(arrival);
}

enum status intake_submit(struct intake *in, const struct intake_arrival *from,
                          intake_done_fn *done, void *arg, struct err *err)
{
    struct writer_command command = {.name = "letter", .run = arrival_run, .done = arrival_done};
    struct arrival *arrival = NULL;
    enum status st;

    TRY(arrival_make(in, from, &arrival, err));
    arrival->done = done;
    arrival->arg = arg;
    command.arg = arrival;
    st = writer_submit(in->options.writer, &command, err);
    if (st != ST_OK)
        arrival_free(arrival);
    return st;
}

enum status intake_accept(struct intake *in, const struct intake_arrival *from,
                          struct intake_accepted *ret, struct err *err)
{
    struct writer_command command = {.name = "letter", .run = arrival_run};
    struct arrival *arrival = NULL;
    enum status st;

    TRY(arrival_make(in, from, &arrival, err));
    command.arg = arrival;
    st = writer_run(in->options.writer, &command, err);
    if (st == ST_OK) {
        arrival_count(in, arrival->is_new);
        if (ret)
            *ret = (struct intake_accepted){.id = arrival->id, .is_new = arrival->is_new};
    }
    arrival_free(arrival);
    return st;
}

/* ----------------------------------------------------------------------------- working them off */

struct judging {
    const struct intake_options *options;
    const struct reading *reading;
    struct buf *trace;
    struct judged judged;
    bool is_done; /* the dry run came to its end */
};

/* One claimed letter at work. */
struct work {
    struct claim *claim;
    struct reading *reading;
    struct judging judging;
    enum status st;
    struct err err;
};

/* Some letters that were claimed by one commit.  They are read one after the other and acted upon
 * each in a command of its own, in order; the commands share commits as any others do. */
struct claim {
    struct intake *in;
    struct inbox_row rows[INTAKE_CLAIM_MAX];
    size_t n;
    size_t put_aside;
    struct work work[INTAKE_CLAIM_MAX];
    pthread_mutex_t lock; /* over pending, and st and err of the work */
    pthread_cond_t done;
    size_t pending;
};

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct claim *claim = arg;
    size_t kept = 0;

    claim->n = claim->put_aside = 0;
    TRY(inbox_claim(txn, now, INTAKE_CLAIM_MAX, claim->rows, &claim->n, err));
    for (size_t i = 0; i < claim->n; i++)
        if (claim->rows[i].attempts > INTAKE_ATTEMPTS) { /* P39 */
            TRY(inbox_settle(txn, claim->rows[i].id, INBOX_QUARANTINED, INBOX_VERDICT_QUARANTINED,
                             "it was begun again and again and never ended", 0, 0, 0, now, err));
            claim->put_aside++;
        } else {
            claim->rows[kept++] = claim->rows[i];
        }
    claim->n = kept;
    return ST_OK;
}

static enum status judge_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct work *work = arg;

    return judge(work->judging.options, txn, now, work->reading, NULL, &work->judging.judged, err);
}

static void judge_done(void *arg, enum status st, const struct err *err)
{
    struct work *work = arg;
    struct claim *claim = work->claim;

    pthread_mutex_lock(&claim->lock);
    work->st = st;
    if (err)
        work->err = *err;
    if (--claim->pending == 0)
        pthread_cond_signal(&claim->done);
    pthread_mutex_unlock(&claim->lock);
}

/* Nothing: when this has been done, so has what was queued before. */
static enum status barrier_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    (void)err;
    return ST_OK;
}

static enum status unclaim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)now;
    return inbox_unclaim(txn, *(const int64_t *)arg, err);
}

static enum status reclaim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return inbox_reclaim(txn, now, arg, err);
}

enum status intake_reclaim(struct intake *in, struct err *err)
{
    int64_t n = 0;
    const struct writer_command command = {.name = "letters", .run = reclaim_run, .arg = &n};
    enum status st = writer_run(in->options.writer, &command, err);

    if (st == ST_OK && n > 0)
        log_event(LOG_LEVEL_WARNING, "letters_reclaimed n=%" PRId64, n);
    return st;
}

/* May pass by itself: the letter waits and the attempt does not count. */
static bool may_pass(enum status st)
{
    return st == ST_BUSY || st == ST_IO || st == ST_NOMEM;
}

static void judged_count(struct intake *in, const struct judged *judged)
{
    pthread_mutex_lock(&in->lock);
    in->stats.verdicts[judged->verdict]++;
    in->stats.answers += judged->has_answer;
    pthread_mutex_unlock(&in->lock);
}

static enum status load(struct intake *in, int64_t id, struct reading **ret, struct err *err)
{
    struct store_reader *reader = NULL;
    int64_t used_ms;
    enum status st = store_reader_take(in->options.store, &reader, err);

    if (st != ST_OK)
        return st;
    guard_begin(INTAKE_CPU_MS);
    st = reading_load(&in->options, store_reader_conn(reader), id, ret, err);
    used_ms = guard_end();
    store_reader_give(reader);
    pthread_mutex_lock(&in->lock);
    if (used_ms > in->stats.read_cpu_max_ms)
        in->stats.read_cpu_max_ms = used_ms;
    pthread_mutex_unlock(&in->lock);
    return st;
}

/* Back among those that wait.  If even that fails it is reclaimed at the next start. */
static void unclaim(struct intake *in, int64_t id)
{
    struct err err = ERR_INIT;
    const struct writer_command back = {.name = "mail", .run = unclaim_run, .arg = &id};

    if (writer_run(in->options.writer, &back, &err) != ST_OK)
        log_event(LOG_LEVEL_WARNING, "letter_kept_claimed id=%" PRId64 " why=\"%s\"", id, err.text);
}

/* Read a letter and queue its command. */
static void work_begin(struct claim *claim, size_t i)
{
    struct intake *in = claim->in;
    struct work *work = &claim->work[i];
    const struct writer_command command = {
        .name = "mail", .run = judge_run, .done = judge_done, .arg = work};
    struct err err = ERR_INIT;
    enum status st;

    memset(work, 0, sizeof *work);
    work->claim = claim;
    work->judging.options = &in->options;
    work->st = load(in, claim->rows[i].id, &work->reading, &work->err);
    if (work->st != ST_OK)
        return;
    pthread_mutex_lock(&claim->lock);
    claim->pending++;
    pthread_mutex_unlock(&claim->lock);
    st = writer_submit(in->options.writer, &command, &err);
    if (st == ST_OK) /* the work is the writer's from here on */
        return;
    pthread_mutex_lock(&claim->lock);
    claim->pending--;
    work->st = st;
    work->err = err;
    pthread_mutex_unlock(&claim->lock);
}

/* Until all that was queued is durable or refused. */
static void work_wait(struct claim *claim)
{
    const struct writer_command barrier = {.name = "mail", .run = barrier_run};
    struct err ignored = ERR_INIT;

    /* Without a started writer it is this that does the work.  A writer that stops does first what
     * waits, so if it takes no barrier any more the wait below still ends. */
    if (writer_run(claim->in->options.writer, &barrier, &ignored) != ST_OK)
        log_event(LOG_LEVEL_DEBUG, "letters_barrier why=\"%s\"", ignored.text);
    pthread_mutex_lock(&claim->lock);
    while (claim->pending > 0)
        pthread_cond_wait(&claim->done, &claim->lock);
    pthread_mutex_unlock(&claim->lock);
}

/* What became of it; a failure that is nobody's but ours. */
static enum status work_end(struct claim *claim, size_t i, struct err *err)
{
    struct intake *in = claim->in;
    struct work *work = &claim->work[i];
    int64_t id = claim->rows[i].id;
    enum status st = work->st;

    reading_free(work->reading);
    work->reading = NULL;
    if (st == ST_OK) {
        judged_count(in, &work->judging.judged);
        log_event(LOG_LEVEL_INFO, "letter id=%" PRId64 " verdict=%s user_id=%" PRId64, id,
                  inbox_verdict_str(work->judging.judged.verdict), work->judging.judged.user_id);
        return ST_OK;
    }
    if (st == ST_CONFLICT && work->err.reason == REASON_ALREADY_DONE)
        return ST_OK;
    *err = work->err;
    if (may_pass(st))
        unclaim(in, id);
    else /* our bug, or a broken row: it is tried once more, then put aside */
        log_event(LOG_LEVEL_ERROR, "letter_failed id=%" PRId64 " why=\"%s\"", id, err->text);
    return st;
}

static enum status claim_some(struct intake *in, struct claim *claim, struct err *err)
{
    const struct writer_command command = {.name = "letters", .run = claim_run, .arg = claim};
    enum status st;

    claim->in = in;
    st = writer_run(in->options.writer, &command, err);
    if (st == ST_OK && claim->put_aside > 0) {
        log_event(LOG_LEVEL_ERROR, "letters_put_aside n=%zu", claim->put_aside);
        pthread_mutex_lock(&in->lock);
        in->stats.verdicts[INBOX_VERDICT_QUARANTINED] += claim->put_aside;
        pthread_mutex_unlock(&in->lock);
    }
    return st;
}

/* Give back what was claimed and not begun. */
static void unclaim_rest(struct intake *in, const struct claim *claim, size_t from)
{
    for (size_t i = from; i < claim->n; i++)
        unclaim(in, claim->rows[i].id);
}

static enum status step(struct intake *in, struct claim *claim, int *ret_n, struct err *err)
{
    for (;;) {
        bool is_failed = false;
        enum status passing = ST_OK;
        size_t begun = 0;

        TRY(claim_some(in, claim, err));
        if (claim->n == 0 && claim->put_aside == 0)
            return ST_OK;
        *ret_n += (int)claim->put_aside;
        while (begun < claim->n && !atomic_load(&in->is_stopping))
            work_begin(claim, begun++);
        work_wait(claim);
        for (size_t i = 0; i < begun; i++) {
            enum status st = work_end(claim, i, err);

            *ret_n += st == ST_OK;
            if (may_pass(st))
                passing = st;
            else
                is_failed = is_failed || st != ST_OK;
        }
        unclaim_rest(in, claim, begun);
        if (is_failed)
            TRY(intake_reclaim(in, err));
        if (passing != ST_OK || begun < claim->n)
            return passing;
    }
}

enum status intake_step(struct intake *in, int *ret_n, struct err *err)
{
    struct claim *claim = calloc(1, sizeof *claim);
    struct err own = ERR_INIT;
    int n = 0;
    enum status st;

    if (!claim)
        return err_reason(err, REASON_NO_MEMORY, "letters");
    pthread_mutex_init(&claim->lock, NULL);
    pthread_cond_init(&claim->done, NULL);
    st = step(in, claim, &n, &own);
    pthread_cond_destroy(&claim->done);
    pthread_mutex_destroy(&claim->lock);
    free(claim);
    if (ret_n)
        *ret_n = n;
    if (st != ST_OK && err)
        *err = own;
    return st;
}

/* ------------------------------------------------------------------------------- the thread */

void intake_wake(struct intake *in)
{
    if (in)
        (void)!write(in->wake[1], "", 1); /* a full pipe wakes as well */
}

/* Until woken, or wait_ms have passed. */
static void wait_for_letters(struct intake *in, int64_t wait_ms)
{
    struct pollfd fd = {.fd = in->wake[0], .events = POLLIN};
    char bytes[256];

    if (poll(&fd, 1, (int)wait_ms) > 0)
        while (read(in->wake[0], bytes, sizeof bytes) > 0)
            ;
}

/* How often it was asked, or that it has done so much. */
static uint64_t asked(struct intake *in)
{
    uint64_t n;

    pthread_mutex_lock(&in->lock);
    n = in->n_asked;
    pthread_mutex_unlock(&in->lock);
    return n;
}

static void looked(struct intake *in, uint64_t n)
{
    pthread_mutex_lock(&in->lock);
    in->n_looked = n;
    pthread_cond_broadcast(&in->looked);
    pthread_mutex_unlock(&in->lock);
}

void intake_settle(struct intake *in)
{
    uint64_t mine;

    if (!in || !in->is_started)
        return;
    pthread_mutex_lock(&in->lock);
    mine = ++in->n_asked;
    pthread_mutex_unlock(&in->lock);
    intake_wake(in);
    pthread_mutex_lock(&in->lock);
    while (in->n_looked < mine)
        pthread_cond_wait(&in->looked, &in->lock);
    pthread_mutex_unlock(&in->lock);
}

static void *thread_main(void *arg)
{
    struct intake *in = arg;
    struct err err = ERR_INIT;

    thread_name("intake");
    while (!atomic_load(&in->is_stopping)) {
        uint64_t n = asked(in);
        enum status st = intake_step(in, NULL, &err);

        looked(in, n);

        if (st != ST_OK && !atomic_load(&in->is_stopping))
            log_event(LOG_LEVEL_ERROR, "letters_wait why=\"%s\"", err.text);
        if (!atomic_load(&in->is_stopping))
            wait_for_letters(in, st == ST_OK ? INTAKE_IDLE_MS : RETRY_MS);
    }
    looked(in, UINT64_MAX); /* nobody waits for a thread that is gone */
    return NULL;
}

enum status intake_start(struct intake *in, struct err *err)
{
    enum status st = intake_reclaim(in, err);

    if (st != ST_OK)
        return st;
    atomic_store(&in->is_stopping, false);
    in->n_asked = in->n_looked = 0;
    if (pthread_create(&in->thread, NULL, thread_main, in) != 0)
        return err_set(err, ST_NOMEM, "no thread for letters");
    in->is_started = true;
    return ST_OK;
}

void intake_stop(struct intake *in)
{
    if (!in || !in->is_started)
        return;
    atomic_store(&in->is_stopping, true);
    intake_wake(in);
    (void)pthread_join(in->thread, NULL);
    in->is_started = false;
}

/* ------------------------------------------------------------------------------- the dry run */

static enum status try_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct judging *j = arg;
    struct reading *reading = (struct reading *)(uintptr_t)j->reading;
    enum status st;

    if (reading->row.received_at == UTC_NONE || reading->row.received_at > now)
        reading->row.received_at = now;
    st = judge(j->options, txn, now, reading, j->trace, &j->judged, err);
    if (st != ST_OK)
        return st;
    j->is_done = true;
    return err_set(err, ST_CONFLICT, "this was a dry run"); /* so that all of it is undone */
}

enum status intake_try(struct intake *in, const struct intake_arrival *from, struct buf *out,
                       struct err *err)
{
    struct judging j = {.options = &in->options, .trace = out};
    struct writer_command command = {.name = "dry run", .run = try_run, .arg = &j};
    struct store_reader *reader = NULL;
    struct arrival *arrival = NULL;
    struct reading *reading = NULL;
    enum status st = arrival_make(in, from, &arrival, err);

    if (st != ST_OK)
        return st;
    st = store_reader_take(in->options.store, &reader, err);
    if (st == ST_OK)
        st = reading_make(&in->options, &arrival->row, arrival->row.raw, arrival->row.raw_len,
                          &reading, err);
    if (st == ST_OK)
        st = reading_find_held(&in->options, store_reader_conn(reader), reading, err);
    store_reader_give(reader);
    if (st == ST_OK) {
        if (!reading->has_letter)
            buf_printf(out, "the letter cannot be read: %s\n", reading->fault.text);
        j.reading = reading;
        st = writer_run(in->options.writer, &command, err);
        if (j.is_done)
            st = buf_status(out, "a dry run", err);
    }
    reading_free(reading);
    arrival_free(arrival);
    return st;
}
