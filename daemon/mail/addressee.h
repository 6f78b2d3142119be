/*
 * mail/addressee.h - whom a letter in a mailbox was for, when no envelope came with it.
 *
 * A Maildir and an IMAP mailbox keep a letter without its envelope.  What is left of that are
 * header lines: Delivered-To, X-Original-To, Envelope-To and X-Envelope-To hold recipients, To and
 * Cc what the writer meant, Return-Path the envelope's sender.  They are looked through in this
 * order for an address that the callback knows; the best one wins, the first among equals.  (A
 * rented mailbox may be delivered to as play@ though the letter was written to play+TOKEN@.)
 *
 * This reads lines, not MIME: it is called before anything has been stored, so it must take any
 * bytes, in time linear to the header.  At most ADDRESSEE_HEADER_MAX bytes are looked at.
 *
 * Ownership: nothing is kept.  Threads: any; no state.
 */
#ifndef FH_MAIL_ADDRESSEE_H
#define FH_MAIL_ADDRESSEE_H

#include <stdbool.h>
#include <stddef.h>

enum { ADDRESSEE_HEADER_MAX = 256 * 1024, ADDRESSEE_SIZE = 321 /* with the NUL */ };

/* How well an address is known: 0 not at all, 1 ours, 2 ours and exactly so (with a token). */
typedef int addressee_judge_fn(void *arg, const char *address);

/* The recipient; false, with ret_address untouched, when no address is known. */
bool addressee_find(const void *bytes, size_t n, addressee_judge_fn *judge, void *arg,
                    char ret_address[ADDRESSEE_SIZE]);

/* The envelope's sender from the first Return-Path: "" for <>.  False, untouched, without one. */
bool addressee_sender(const void *bytes, size_t n, char ret_address[ADDRESSEE_SIZE]);

#endif
