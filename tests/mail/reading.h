/*
 * mail/reading.h - what the tests of reading share: fixtures, and a letter in one line of text.
 *
 * reply_lines() gives the lines of a kind joined by "|", blank ones left out, so that a table of
 * inputs and wanted results stays readable.
 */
#ifndef FH_TESTS_MAIL_READING_H
#define FH_TESTS_MAIL_READING_H

#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "mail/letter.h"
#include "mail/message.h"
#include "mail/reply.h"

/* The whole file tests/mail/fixtures/NAME.eml. */
static inline struct buf fixture(const char *name)
{
    char path[512], chunk[4096];
    struct buf b = buf_make(64u * 1024 * 1024);
    FILE *file;
    size_t n;

    (void)snprintf(path, sizeof path, "%s/tests/mail/fixtures/%s.eml", FH_SOURCE_DIR, name);
    file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s: no such fixture", path);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_add(&b, chunk, n);
    (void)fclose(file);
    return b;
}

/* A digest that a test can foresee: good enough to tell letters apart. */
static inline void reading_sha256(void *arg, const void *bytes, size_t n,
                                  unsigned char ret[DIGEST_SIZE])
{
    const unsigned char *p = bytes;
    uint64_t h = 1469598103934665603u;

    (void)arg;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    memset(ret, 0, DIGEST_SIZE);
    memcpy(ret, &h, sizeof h);
}

static const struct digest reading_digest __attribute__((unused)) = {reading_sha256, NULL};

/* The lines of one kind, joined by "|"; the caller frees. */
static inline char *reply_lines(const struct reply *reply, enum reply_kind kind)
{
    struct buf out = buf_make(1024 * 1024);

    for (size_t i = 0; i < reply->count; i++) {
        if (reply->lines[i].kind != kind || reply->lines[i].text[0] == '\0')
            continue;
        if (out.len > 0)
            buf_putc(&out, '|');
        buf_puts(&out, reply->lines[i].text);
    }
    return buf_take(&out, NULL);
}

static const char *const reading_own_words[] = {"note"};
static const char *const reading_markers[] = {"--- Reply above this line"};
static const struct reply_options reading_options __attribute__((unused)) = {
    .own_words = reading_own_words,
    .own_word_count = 1,
    .markers = reading_markers,
    .marker_count = 1};

/* The reply area of a text; the caller frees. */
static inline char *top_of(const char *text)
{
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    char *top;

    assert_ok(reply_split(text, &reading_options, &reply, &err), err);
    top = reply_lines(&reply, REPLY_TOP);
    reply_release(&reply);
    return top;
}

#endif
