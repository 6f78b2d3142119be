/*
 * tests/mail/imap_fake.h - a small IMAP server with one mailbox, on a port of loopback.
 *
 * One thread, one connection after another, plain text.  It knows what mail/imap.h asks and may be
 * told to misbehave.  Letters are put in at any time; a connection that is in IDLE is told.
 */
#ifndef FH_TEST_IMAP_FAKE_H
#define FH_TEST_IMAP_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct imap_fake_ways {
    bool has_no_idle, has_no_uidplus, refuses_login;
    const char *silent_at;  /* says nothing more from this command on ("UID FETCH") */
    const char *hangs_up_at; /* closes the connection at this command, once */
    const char *nonsense_at; /* answers this command with something that is not IMAP */
    bool is_endless;         /* … that never ends, at nonsense_at */
};

struct imap_fake;

struct imap_fake *imap_fake_start(void);
int imap_fake_port(const struct imap_fake *fake);
void imap_fake_set(struct imap_fake *fake, const struct imap_fake_ways *ways);
void imap_fake_renumber(struct imap_fake *fake, uint32_t uidvalidity);
/* Returns its UID; bytes are copied. */
uint32_t imap_fake_put(struct imap_fake *fake, const char *bytes, size_t n);

struct imap_fake_letter {
    bool is_there, is_seen;
    int fetched; /* how many times its bytes were asked for */
};
struct imap_fake_letter imap_fake_letter(struct imap_fake *fake, uint32_t uid);
/* Wait until so many commands that begin with `word` have come since the start. */
void imap_fake_wait(struct imap_fake *fake, const char *word, int n);
int imap_fake_count(struct imap_fake *fake, const char *word);
void imap_fake_stop(struct imap_fake *fake);

#endif
