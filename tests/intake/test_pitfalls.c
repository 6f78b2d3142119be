/*
 * The forty pitfalls of mail that other projects met, by number, as worked letters (tests/mail/
 * fixtures): each goes in as it is and must have exactly the required result.  tests/mail looks at
 * how they are read; here it is what becomes of them.  Those that are about letters going out are
 * tried at the end.
 *
 * Each letter meets a fresh club: anna (South) is on turn in a team game, and POST_TOKEN is her
 * turn's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "http/fixture.h"
#include "intake/post.h"
#include "mail/message.h"
#include "mail/transport.h"
#include "store/held.h"

enum { LETTER_MAX = 4 * 1024 * 1024 };

enum wanted {
    MOVED,     /* e2-e4 is held, and answered */
    NOTED,     /* something else was done, and answered */
    ASKED,     /* a question: answered, nothing held */
    REFUSED,   /* answered, nothing held */
    ASIDE,     /* the owner is asked; nothing held */
    QUIET,     /* nothing held, nothing said */
    BOUNCED,   /* quiet, and the address is as `reason` says */
    KEPT,      /* quarantined */
    NOT_TAKEN  /* the recipient is none of ours */
};

struct pitfall {
    const char *name;   /* of the file, without .eml */
    enum wanted wanted;
    const char *reason; /* how the row's reason begins */
    const char *recipient; /* of the envelope; NULL: as the letter's own lines say */
};
#define PLAY "play+" POST_TOKEN "@club.example"

static const struct pitfall pitfalls[] = {
    {"P01-vacation-auto-submitted", QUIET, "auto_submitted", NULL},
    {"P02-exchange-suppress", QUIET, "suppress", NULL},
    {"P02-human-says-auto-submitted-no", MOVED, "", NULL},
    {"P02-no-reply-address", QUIET, "daemon", NULL},
    {"P02-null-sender", QUIET, "null_sender", NULL},
    {"P02-precedence-bulk", QUIET, "precedence", NULL},
    {"P02-subject-only", QUIET, "wording", NULL},
    {"P02-absence-below-greeting", QUIET, "wording", NULL},
    {"P02-subject-hebrew", QUIET, "wording", NULL},
    {"P02-x-autoreply", QUIET, "auto_header", NULL},
    {"P02-message-class", QUIET, "auto_header", NULL},
    {"P02-machine-generated", QUIET, "auto_header", NULL},
    {"P02-header-of-its-kind", QUIET, "auto_header", NULL},
    {"P02-rules-agent", QUIET, "auto_header", NULL},
    {"P02-rules-template", QUIET, "auto_header", NULL},
    {"P02-left-the-company", QUIET, "wording", NULL},
    {"P02-absence-in-second-line", QUIET, "wording", NULL},
    {"P02-automatic-in-one-chinese-line", QUIET, "wording", NULL},
    {"P02-nobody-reads-this", QUIET, "wording", NULL},
    {"P02-holiday-below-a-move", REFUSED, "unknown_command: I am on vacation", NULL},
    {"P02-holiday-below-a-long-command", REFUSED, "unknown_command: I am on vacation", NULL},
    {"P03-loop-header", QUIET, "loop", NULL},
    {"P03-other-autoresponder", QUIET, "auto_submitted", NULL},
    {"P04-own-letter", QUIET, "loop", NULL},
    {"P05-html-struck-out-gmail", MOVED, "", NULL},
    {"P05-html-struck-out-outlook", MOVED, "", NULL},
    {"P05-html-clipped-text", MOVED, "", NULL},
    {"P05-html-hidden-text", MOVED, "", NULL},
    {"P05-html-gmail", MOVED, "", NULL},
    {"P05-html-only", MOVED, "", NULL},
    {"P05-html-preheader", MOVED, "", NULL},
    {"P05-html-without-tags", MOVED, "", NULL},
    {"P05-html-word-paragraphs", REFUSED, "unknown_command: no", NULL},
    {"P05-html-tight-paragraphs", REFUSED, "unknown_command: no", NULL},
    {"P05-html-paragraphs", MOVED, "", NULL},
    {"P05-html-outlook-web", MOVED, "", NULL},
    {"P05-html-outlook-mobile", MOVED, "", NULL},
    {"P05-html-zoho", MOVED, "", NULL},
    {"P05-html-spark", MOVED, "", NULL},
    {"P05-html-edison", MOVED, "", NULL},
    {"P05-html-entourage", MOVED, "", NULL},
    {"P05-html-office-settings", MOVED, "", NULL},
    {"P06-empty-text-full-html", MOVED, "", NULL},
    {"P06-stub-text", MOVED, "", NULL},
    {"P07-outlook-de", MOVED, "", NULL},
    {"P07-outlook-en", MOVED, "", NULL},
    {"P07-outlook-fr-bold", MOVED, "", NULL},
    {"P07-outlook-original-message", MOVED, "", NULL},
    {"P07-outlook-ru", MOVED, "", NULL},
    {"P07-outlook-unknown-language", MOVED, "", NULL},
    {"P07-notes-date-between-rules", MOVED, "", NULL},
    {"P07-two-dashes", MOVED, "", NULL},
    {"P08-apple-unprefixed-url", MOVED, "", NULL},
    {"P08-below-unprefixed-url", REFUSED, "empty", NULL},
    {"P09-chinese-wrapped", MOVED, "", NULL},
    {"P09-french-wrapped", MOVED, "", NULL},
    {"P09-polish-wrapped", MOVED, "", NULL},
    {"P09-russian-no-verb", MOVED, "", NULL},
    {"P10-bottom-posted", MOVED, "", NULL},
    {"P10-inline", MOVED, "", NULL},
    {"P10-two-commands-between", REFUSED, "not_one_command", NULL},
    {"P11-flowed-delsp", REFUSED, "illegal_move: Rd4-d8", NULL},
    {"P11-flowed", REFUSED, "bad_request: place R p4 N n3 B o1", NULL},
    {"P12-base64-av-text", MOVED, "", NULL},
    {"P12-base64-footer-no-padding", MOVED, "", NULL},
    {"P12-base64-list-footer", MOVED, "", NULL},
    {"P12-base64-in-quotes", MOVED, "", NULL},
    {"P13-promotion-is-no-escape", REFUSED, "illegal_move: e10-e11=Q", NULL},
    {"P13-quoted-printable-soft", MOVED, "", NULL},
    {"P13-undeclared", REFUSED, "illegal_move: Rd4-d8", NULL},
    {"P14-8bit-no-charset", MOVED, "", NULL},
    {"P14-invalid-utf8", MOVED, "", NULL},
    {"P14-iso-2022-jp", MOVED, "", NULL},
    {"P14-labelled-latin1-is-utf8", MOVED, "", NULL},
    {"P14-latin1-bytes-no-charset", MOVED, "", NULL},
    {"P14-utf-16-bom", REFUSED, "bad_request: resign", NULL},
    {"P14-utf-16-without-bom", MOVED, "", NULL},
    {"P14-utf8-apostrophe", MOVED, "", NULL},
    {"P14-windows-1258", MOVED, "", NULL},
    {"P14-windows-31j", MOVED, "", NULL},
    {"P14-x-nope", MOVED, "", NULL},
    {"P14-utf-7", REFUSED, "unknown_command: +AHI", NULL},
    {"P14-html-meta-charset", MOVED, "", NULL},
    {"P14-labelled-iso-2022-is-utf8", MOVED, "", NULL},
    {"P14-utf-32-bom", MOVED, "", NULL},
    {"P15-attached-text-only-name", MOVED, "", NULL},
    {"P15-bad-filename", MOVED, "", NULL},
    {"P15-empty-content-type", MOVED, "", NULL},
    {"P15-encoded-word-content-type", MOVED, "", NULL},
    {"P16-address-as-name", ASIDE, "foreign_sender", NULL},
    {"P16-broken-from", QUIET, "bad_from", NULL},
    {"P16-comment-and-quoted-local", MOVED, "", NULL},
    {"P16-empty-reply-to", MOVED, "", NULL},
    {"P16-group", QUIET, "bad_from", NULL},
    {"P16-name-with-crlf", QUIET, "bad_from", NULL},
    {"P16-no-from", QUIET, "bad_from", NULL},
    {"P16-two-brackets", QUIET, "bad_from", NULL},
    {"P16-two-from", QUIET, "bad_from", NULL},
    {"P16-two-mailboxes", QUIET, "bad_from", NULL},
    {"P17-forged-above-other-id", ASIDE, "foreign_sender", NULL},
    {"P17-forged-below", ASIDE, "foreign_sender", NULL},
    {"P17-no-token", REFUSED, "no_token", NULL},
    {"P17-passed", MOVED, "", NULL},
    {"P17-smuggled-in-quotes", ASIDE, "foreign_sender", NULL},
    {"P18-forwarded-to-a-friend", ASIDE, "foreign_sender", NULL},
    {"P19-message-id-guessed", REFUSED, "no_token", NULL},
    {"P20-65-octets", NOT_TAKEN, "", NULL},
    {"P20-upper-case", MOVED, "", NULL},
    {"P21-again-by-another-way", MOVED, "", NULL},
    {"P21-first", MOVED, "", NULL},
    {"P21-no-id", MOVED, "", NULL},
    {"P21-same-id-new-body", MOVED, "", NULL},
    {"P22-names-an-old-turn", REFUSED, "move_number: 12. e2-e4", NULL},
    {"P22-quoted-order-of-last-turn", ASKED, "", NULL},
    {"P23-second-invalid", REFUSED, "unknown_command: xyzzy", NULL},
    {"P24-delayed", BOUNCED, "no_failure", NULL},
    {"P24-mailbox-full", BOUNCED, "soft", NULL},
    {"P24-not-a-report", BOUNCED, "no_report", NULL},
    {"P24-policy-labelled-as-address", BOUNCED, "policy", NULL},
    {"P24-policy", BOUNCED, "policy", NULL},
    {"P24-report-without-groups", BOUNCED, "no_failure", NULL},
    {"P24-other-recipient", BOUNCED, "other_recipient", NULL},
    {"P24-forwarded", BOUNCED, "soft", NULL},
    {"P24-srs", BOUNCED, "soft", NULL},
    {"P25-forwarded-with-original", BOUNCED, "suspended", NULL},
    {"P25-bad-mac", BOUNCED, "bad_mac", NULL},
    {"P25-no-such-user", BOUNCED, "suspended", NULL},
    {"P25-status-says-nothing", BOUNCED, "suspended", NULL},
    {"P26-calendar-reply", QUIET, "calendar", NULL},
    {"P26-calendar-reply-in-a-file", QUIET, "calendar", NULL},
    {"P26-reaction-to-this-message", QUIET, "reaction", NULL},
    {"P26-gmail-reaction", QUIET, "reaction", NULL},
    {"P26-outlook-reaction", QUIET, "reaction", NULL},
    {"P26-read-receipt", QUIET, "report", NULL},
    {"P26-reaction-below-a-picture", QUIET, "reaction", NULL},
    {"P26-recall", QUIET, "wording", NULL},
    {"P26-delivered", QUIET, "wording", NULL},
    {"P27-pgp-inline-encrypted", REFUSED, "encrypted", NULL},
    {"P27-pgp-inline-signed", MOVED, "", NULL},
    {"P27-pgp-mime-encrypted", REFUSED, "encrypted", NULL},
    {"P27-smime-encrypted", REFUSED, "encrypted", NULL},
    {"P27-smime-opaque", MOVED, "", NULL},
    {"P27-smime-opaque-streamed", MOVED, "", NULL},
    {"P27-smime-signed", MOVED, "", NULL},
    {"P27-winmail-is-all", REFUSED, "tnef", NULL},
    {"P27-winmail-only", REFUSED, "tnef", NULL},
    {"P28-html-file-html", REFUSED, "bad_request: resign", NULL},
    {"P28-text-file-text", MOVED, "", NULL},
    {"P28-text-below-text", MOVED, "", NULL},
    {"P29-headers-of-a-part", KEPT, "the header of a part is too long", NULL},
    {"P29-many-headers", KEPT, "there are over 200 header fields", NULL},
    {"P29-many-parts", KEPT, "there are over 64 parts", NULL},
    {"P29-nested-messages", KEPT, "there are over 64 parts", NULL},
    {"P29-nested", KEPT, "the parts are nested too deeply", NULL},
    {"P29-nul-in-header", KEPT, "the letter holds a NUL byte", NULL},
    {"P29-nul", KEPT, "the letter holds a NUL byte", NULL},
    {"P30-long-parameter-name", MOVED, "", NULL},
    {"P31-name-with-crlf", QUIET, "bad_from", NULL},
    {"P31-recipient-with-crlf", REFUSED, "empty", NULL},
    {"P31-subject-with-newline", MOVED, "", NULL},
    {"P32-dots", MOVED, "", NULL}, /* ".." and more is no command, and below an empty line prose */
    {"P33-cyrillic-castling", REFUSED, "lookalike: О-О", NULL},
    {"P33-cyrillic-letters", REFUSED, "lookalike: е2-е4", NULL},
    {"P33-en-dash", MOVED, "", NULL},
    {"P33-full-width", MOVED, "", NULL},
    {"P33-two-dashes", MOVED, "", NULL},
    {"P33-japanese-dash", MOVED, "", NULL},
    {"P33-nbsp-zero-width", REFUSED, "bad_request: place R p4 N n3 B o1", NULL},
    {"P33-smart-quotes", NOTED, "", NULL},
    {"P34-banner-html", MOVED, "", NULL},
    {"P34-banner-wrapped", MOVED, "", NULL},
    {"P34-banner-proofpoint", MOVED, "", NULL},
    {"P34-banner-first-letter-ru", MOVED, "", NULL},
    {"P34-banner-tag-and-footer", MOVED, "", NULL},
    {"P34-banner", MOVED, "", NULL},
    {"P34-closing-with-a-name", MOVED, "", NULL},
    {"P34-mobile-signature", MOVED, "", NULL},
    {"P34-seat-is-no-signature", NOTED, "", NULL},
    {"P34-outlook-for-android", MOVED, "", NULL},
    {"P34-own-banner", MOVED, "", NULL},
    {"P34-yahoo-slogan", MOVED, "", NULL},
    {"P34-sent-as-a-sentence", MOVED, "", NULL},
    {"P34-place-of-a-picture", MOVED, "", NULL},
    {"P34-mark-of-an-object", MOVED, "", NULL},
    {"P34-mark-of-a-tracker", MOVED, "", NULL},
    {"P34-label-above", MOVED, "", NULL},
    {"P34-label-below", MOVED, "", NULL},
    {"P34-banner-in-two-paragraphs", MOVED, "", NULL},
    {"P34-notice-on-paper", MOVED, "", NULL},
    {"P37-no-delivered-to", MOVED, "", NULL},
    {"P37-order", MOVED, "", NULL},
    {"P37-tag-stripped", MOVED, "", NULL},
    {"P37-two-of-ours", REFUSED, "token_conflict", NULL},
    {"P38-byte-order-mark", MOVED, "", NULL},
    {"P38-crcrlf", MOVED, "", NULL},
    {"P38-header-only", REFUSED, "no_text", NULL},
    {"P38-mbox-line", MOVED, "", NULL},
    {"P38-mime-broken", MOVED, "", NULL},
    {"P38-no-blank-line", MOVED, "", NULL},
    {"P38-no-boundary", MOVED, "", NULL},
    {"P38-unending", MOVED, "", NULL},
    {"P38-cr-only", MOVED, "", NULL},
    {"P38-cr-only-made-one-line", KEPT, "bad_from", NULL},
    {"P38-cr-only-below-crlf", MOVED, "", NULL},
    {"P38-cr-only-crlf-at-end", MOVED, "", NULL},
    {"P38-nothing-but-text", KEPT, "", PLAY},
    {"P38-lf-cr", MOVED, "", PLAY},
    {"P38-lf-cr-below-crlf", MOVED, "", NULL},
    {"P39-unreadable", KEPT, "", PLAY},
};

static char bytes[LETTER_MAX];

static size_t load(const char *name)
{
    char path[400];
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof path, FH_SOURCE_DIR "/tests/mail/fixtures/%s.eml", name);
    f = fopen(path, "rb");
    if (!f)
        fail_msg("no letter %s", path);
    n = fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    return n;
}

static const char *wanted_word(enum wanted wanted)
{
    static const char *const words[] = {"moved", "noted", "asked", "refused",     "aside",
                                        "quiet", "bounced", "quarantined", "not taken"};

    return words[wanted];
}

static enum wanted result_of(struct post *p, const struct inbox_row *row, int64_t game)
{
    struct held_row held;
    bool is_held = held_get(store_reader_conn(p->t->reader), game, &held, NULL) == ST_OK;

    if (is_held) {
        assert_int_equal(strncmp(held.move, "e2e", 3), 0);
        assert_int_equal(row->verdict, INBOX_VERDICT_ACTED);
        assert_int_not_equal(row->answer_id, 0);
        return MOVED;
    }
    switch (row->verdict) {
    case INBOX_VERDICT_ACTED:
        return NOTED;
    case INBOX_VERDICT_ANSWERED:
        return ASKED;
    case INBOX_VERDICT_REFUSED:
        return row->answer_id != 0 ? REFUSED : QUIET;
    case INBOX_VERDICT_UNREADABLE:
        return row->state == INBOX_QUARANTINED ? KEPT : REFUSED;
    case INBOX_VERDICT_HELD:
        return ASIDE;
    case INBOX_VERDICT_BOUNCE:
        return BOUNCED;
    default:
        assert_int_equal(row->answer_id, 0);
        return QUIET;
    }
}

/* A turn's letter that was sent, so that its bounce means something; see bounce_read(). */
static enum status sent_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct post *p = arg;
    struct intent_row intent = INTENT_ROW_INIT, leased = INTENT_ROW_INIT;
    const struct outbox_letter letter = {.bytes = "x", .len = 1, .content_type = "",
                                         .envelope_from = "bounce@club.example",
                                         .envelope_to = "anna@example.org",
                                         .message_id = "m@club.example"};
    enum status st;

    (void)str_copy(intent.dedupe_key, sizeof intent.dedupe_key, "sent");
    (void)str_copy(intent.template_name, sizeof intent.template_name, "turn");
    intent.cls = NOTICE_TURN;
    intent.channel = CHANNEL_MAIL;
    intent.user_id = p->t->user[SOUTH];
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + MS_DAY;
    st = outbox_put(txn, &intent, &p->bounced_row, err);
    if (st == ST_OK)
        st = outbox_claim(txn, CHANNEL_MAIL, now, MS_HOUR, &leased, err);
    if (st == ST_OK)
        st = outbox_compose(txn, leased.id, leased.attempts, &letter, err);
    if (st == ST_OK)
        st = outbox_sent(txn, leased.id, leased.attempts, 250, "ok", 1, now, err);
    intent_release(&leased);
    return st;
}

/* The worked reports carry this code where it is right. */
static enum status bounce_read(void *arg, const char *local_part, int64_t *ret_id,
                               struct err *err)
{
    struct post *p = arg;

    if (strcmp(local_part, "bounce+mfrgg.abcdefghij") != 0)
        return err_reason(err, REASON_LINK_EXPIRED, "not ours");
    *ret_id = p->bounced_row;
    return ST_OK;
}

static const char *const banners[] = {"*** Poczta spoza firmy"};

static struct post *club_open(int64_t *ret_game)
{
    struct writer_command sent = {.name = "sent", .run = sent_run};
    struct err err = ERR_INIT;
    void *state = NULL;
    struct post *p;

    assert_int_equal(post_setup(&state), 0);
    p = state;
    post_close(p);
    p->options.hooks.bounce_read = bounce_read;
    p->options.banners = banners;
    p->options.n_banners = 1;
    post_open(p);
    *ret_game = game_start(p->t, "teams");
    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_TURN, *ret_game, game_get(p->t, *ret_game).state_no,
                   0, now_of(p->t) + 60 * MS_DAY);
    sent.arg = p;
    assert_ok(writer_run(p->t->writer, &sent, &err), err);
    return p;
}

/* How one worked letter ended; its reason. */
static enum wanted try_letter(const char *name, const char *recipient,
                              char reason[INBOX_REASON_SIZE])
{
    int64_t game;
    struct post *p = club_open(&game);
    struct intake_arrival arrival = {.way = INBOX_BY_MAILDIR, .bytes = bytes,
                                     .received_at = UTC_NONE};
    struct intake_accepted accepted;
    struct inbox_row row;
    struct err err = ERR_INIT;
    enum wanted got = NOT_TAKEN;
    void *state = p;

    arrival.n = load(name);
    arrival.recipient = recipient;
    reason[0] = '\0';
    if (intake_accept(p->intake, &arrival, &accepted, &err) == ST_OK) {
        assert_ok(intake_step(p->intake, NULL, &err), err);
        row = post_row(p, accepted.id);
        (void)str_copy(reason, INBOX_REASON_SIZE, row.reason);
        got = result_of(p, &row, game);
        /* It blocks nothing (P39). */
        assert_true(post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "board")->has_answer);
    }
    assert_int_equal(post_teardown(&state), 0);
    return got;
}

static void test_each_worked_letter_has_the_required_result(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pitfalls); i++) {
        const struct pitfall *f = &pitfalls[i];
        char reason[INBOX_REASON_SIZE];
        enum wanted got = try_letter(f->name, f->recipient, reason);
        bool is_good = got == f->wanted && str_starts(reason, f->reason);

        print_message("%s %s: %s%s%s\n", is_good ? "ok" : "NOT OK", f->name, wanted_word(got),
                      reason[0] ? ", " : "", reason);
        failed += !is_good;
    }
    if (failed > 0)
        fail_msg("%d letters had another result", failed);
}


static bool is_listed(const char *file)
{
    for (size_t i = 0; i < COUNT_OF(pitfalls); i++) {
        size_t n = strlen(pitfalls[i].name);

        if (strncmp(file, pitfalls[i].name, n) == 0 && str_eq(file + n, ".eml"))
            return true;
    }
    return false;
}

/* Every number of the list has at least one letter here, or one of the tests below; and every
 * worked letter is here. */
static void test_no_number_is_missing(void **state)
{
    bool has[41] = {false};
    DIR *folder = opendir(FH_SOURCE_DIR "/tests/mail/fixtures");

    (void)state;
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        if (e->d_name[0] == 'P' && !is_listed(e->d_name))
            fail_msg("%s is not listed here", e->d_name);
    (void)closedir(folder);
    for (size_t i = 0; i < COUNT_OF(pitfalls); i++)
        has[(pitfalls[i].name[1] - '0') * 10 + pitfalls[i].name[2] - '0'] = true;
    has[35] = has[36] = has[40] = true; /* letters that go out */
    for (int n = 1; n <= 40; n++)
        if (!has[n])
            fail_msg("P%02d has no letter", n);
}

/* P03: when all marks are missing, two machines come to one answer an hour. */
static void test_p03_two_machines_soon_fall_silent(void **state)
{
    int64_t game;
    struct post *p = club_open(&game);
    void *own = p;
    int answers = 0;

    (void)state;
    for (int i = 0; i < 20; i++) {
        answers += post_say(p, SOUTH, POST_TOKEN, "Thank you, we will answer soon.")->has_answer;
        pass(p->t, 2 * MS_MINUTE);
    }
    assert_int_equal(answers, 1);
    print_message("ok P03: 1 answer to 20 letters of a machine without marks\n");
    assert_int_equal(post_teardown(&own), 0);
}

/* P21: one effect, and one answer for both. */
static void test_p21_the_same_letter_by_another_way(void **state)
{
    int64_t game;
    struct post *p = club_open(&game);
    void *own = p;
    int64_t first, size = (int64_t)load("P21-first");

    (void)state;
    first = post_raw(p, "anna@example.org", PLAY, bytes, (size_t)size)->row.id;
    size = (int64_t)load("P21-again-by-another-way");
    assert_int_equal(post_raw(p, "anna@example.org", PLAY, bytes, (size_t)size)->row.id, first);
    assert_int_equal(post_count(p, "SELECT count(*) FROM held_moves"), 1);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox WHERE class = 'answer'"), 1);
    size = (int64_t)load("P21-same-id-new-body");
    assert_int_not_equal(post_raw(p, "anna@example.org", PLAY, bytes, (size_t)size)->row.id, first);
    print_message("ok P21: one letter by two ways has one effect and one answer\n");
    assert_int_equal(post_teardown(&own), 0);
}

/* P22: what the answer to a late letter shows. */
static void test_p22_a_late_letter_gets_the_present_board(void **state)
{
    int64_t game;
    struct post *p = club_open(&game);
    const struct post_result *r;
    void *own = p;
    int64_t size;

    (void)state;
    move_ok(p->t, game, "d2d4");
    size = (int64_t)load("P21-first");
    r = post_raw(p, "anna@example.org", PLAY, bytes, (size_t)size);
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber");
    assert_non_null(strstr(r->params, "\"board\":true"));
    assert_int_equal(game_get(p->t, game).ply, 1);
    print_message("ok P22: a letter of an earlier turn has no effect and gets the board\n");
    assert_int_equal(post_teardown(&own), 0);
}

/* P31: what a player's letter says cannot become a header of ours. */
static void test_p31_nothing_echoed_becomes_a_header(void **state)
{
    int64_t game;
    struct post *p = club_open(&game);
    const struct post_result *r;
    struct mail_message message = {
        .from = {.address = "games@club.example",
                 .name = "Club\r\nBcc: evil@example.net"},
        .to = {.address = "anna@example.org"}, .subject = "x", .date = T0,
        .message_id = "a@club.example", .text = "x"};
    struct buf out = buf_make(64 * 1024);
    struct err err = ERR_INIT;
    void *own = p;
    int64_t size = (int64_t)load("P31-subject-with-newline");

    (void)state;
    r = post_raw(p, "anna@example.org", PLAY, bytes, (size_t)size);
    assert_true(r->has_answer);
    assert_null(strpbrk(r->params, "\r\n"));
    assert_null(strstr(r->params, "\\nBcc"));
    assert_int_not_equal(mail_compose(&message, &out, &err), ST_OK);
    message.from.name = "Club";
    assert_ok(mail_compose(&message, &out, &err), err);
    message.subject = "x\nBcc: evil@example.net";
    assert_int_not_equal(mail_compose(&message, &out, &err), ST_OK);
    print_message("ok P31: no line break gets into a header\n");
    buf_release(&out);
    assert_int_equal(post_teardown(&own), 0);
}

/* P35: scanners open every link of a letter before its reader does. */
static char *http_ask(int port, const char *method, const char *path)
{
    static char answer[64 * 1024];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    char request[300];
    size_t got = 0;
    ssize_t n;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    n = snprintf(request, sizeof request,
                 "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", method, path);
    assert_int_equal(write(fd, request, (size_t)n), n);
    while ((n = read(fd, answer + got, sizeof answer - 1 - got)) > 0)
        got += (size_t)n;
    answer[got] = '\0';
    (void)close(fd);
    return answer;
}

static enum status unsubscribe_stub(void *arg, const char *token, int64_t *ret_user,
                                    enum notice_class *ret_class, struct err *err)
{
    (void)token;
    (void)err;
    *ret_user = *(int64_t *)arg;
    *ret_class = NOTICE_TURN;
    return ST_OK;
}

struct linking {
    struct fixture *f;
    char secret[SECRET_SIZE];
};

static enum status link_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct linking *l = arg;

    return people_link_make(&l->f->people, txn, l->f->user_ids[0], now, l->secret, err);
}

static int64_t http_count(const struct fixture *f, const char *sql)
{
    char path[320];
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int64_t n;

    (void)snprintf(path, sizeof path, "%s", peek_store_path(f->store));
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    n = sqlite3_column_int64(q, 0);
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return n;
}

static void test_p35_opening_links_changes_nothing(void **state)
{
    static const char *const kinds[] = {"/u/", "/login/", "/confirm/"};
    struct fixture *f = calloc(1, sizeof *f);
    struct linking linking = {.f = f};
    struct writer_command command = {.name = "link", .run = link_run, .arg = &linking};
    struct err err = ERR_INIT;

    (void)state;
    assert_non_null(f);
    fixture_setup(f);
    f->options.notices = (struct http_notices){.arg = &f->user_ids[0],
                                               .unsubscribe_read = unsubscribe_stub};
    fixture_serve(f);
    assert_ok(writer_run(f->writer, &command, &err), err);
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        for (int head = 0; head < 2; head++) {
            char path[80];

            (void)snprintf(path, sizeof path, "%s%s", kinds[i], linking.secret);
            (void)http_ask(f->port, head ? "HEAD" : "GET", path);
        }
    assert_int_equal(http_count(f, "SELECT count(*) FROM prefs"), 0);
    assert_int_equal(http_count(f, "SELECT count(*) FROM sessions"), 0);
    /* … and the link is still good for its reader, who presses the button. */
    {
        char path[80];

        (void)snprintf(path, sizeof path, "/u/%s", linking.secret);
        (void)http_ask(f->port, "POST", path);
    }
    print_message("ok P35: no link of a letter does anything by GET or HEAD\n");
    fixture_teardown(f);
    free(f);
}

/* P36: only a clear no ends the attempts; a silence, a 4yz or a lost line does not. */
static void test_p36_what_is_tried_again(void **state)
{
    static const struct {
        CURLcode curl;
        long code;
        bool is_uploaded;
        const char *line;
        enum mail_outcome outcome;
    } rows[] = {{CURLE_OPERATION_TIMEDOUT, 354, true, "", MAIL_LATER}, /* after DATA: unknown */
                {CURLE_SEND_ERROR, 421, false, "421 4.3.2 closing", MAIL_LATER},
                {CURLE_SEND_ERROR, 452, false, "452 4.2.2 full", MAIL_LATER},
                {CURLE_COULDNT_CONNECT, 0, false, "", MAIL_LATER},
                {CURLE_RECV_ERROR, 250, false, "", MAIL_LATER}, /* it closed after RCPT */
                {CURLE_SEND_ERROR, 550, false, "550 5.1.1 no such mailbox", MAIL_REFUSED},
                {CURLE_OK, 250, true, "", MAIL_SENT}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mail_result result;

        mail_reply_judge(rows[i].curl, rows[i].code, rows[i].is_uploaded, rows[i].line, "",
                         &result);
        assert_int_equal(result.outcome, rows[i].outcome);
    }
    print_message("ok P36: a silence or a 4yz is tried again, a 5yz is not\n");
}

/* P40: one unencoded line, however long. */
static void test_p40_a_long_unsubscribe_header_is_one_line(void **state)
{
    char url[700] = "https://club.example/u/", line[800];
    struct mail_message message = {
        .from = {.address = "games@club.example"},
        .to = {.address = "anna@example.org"},
        .subject = "x", .date = T0, .message_id = "a@club.example", .text = "x",
        .unsubscribe_url = url,
        .list_id = "turn.club.example", .list_name = "Club"};
    struct buf out = buf_make(64 * 1024);
    struct err err = ERR_INIT;

    (void)state;
    memset(url + strlen(url), 'a', 600);
    assert_ok(mail_compose(&message, &out, &err), err);
    (void)snprintf(line, sizeof line, "\r\nList-Unsubscribe: <%s>\r\n", url);
    assert_non_null(strstr(out.data, line));
    print_message("ok P40: List-Unsubscribe of %zu characters stands on one line\n",
                  strlen(line) - 4);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_worked_letter_has_the_required_result),
        cmocka_unit_test(test_no_number_is_missing),
        cmocka_unit_test(test_p03_two_machines_soon_fall_silent),
        cmocka_unit_test(test_p21_the_same_letter_by_another_way),
        cmocka_unit_test(test_p22_a_late_letter_gets_the_present_board),
        cmocka_unit_test(test_p31_nothing_echoed_becomes_a_header),
        cmocka_unit_test(test_p35_opening_links_changes_nothing),
        cmocka_unit_test(test_p36_what_is_tried_again),
        cmocka_unit_test(test_p40_a_long_unsubscribe_header_is_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
