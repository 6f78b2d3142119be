/*
 * store/log_vfs.h - a SQLite VFS that hands the write-ahead log over in large pieces.
 *
 * SQLite writes a commit's pages into the log one by one, each as a header and a page: some two
 * hundred system calls for a batch of moves.  Over this VFS they are kept and written together,
 * once a commit (in several pieces when it is long).  All files but the log are the base's own.
 *
 * What it must not do is keep anything that another connection may look for.  It reads SQLite's
 * frame headers (file format, "WAL file format"): the page that ends a commit takes all that is
 * kept with it, before SQLite's write of it returns, so SQLite syncs and publishes what is in the
 * file.  (Where a page was written twice in one transaction, SQLite writes headers anew after that,
 * before its sync, which takes them along: synchronous must be FULL.)  Before any other use of the
 * log – a read, a sync, a truncation, its size, its end – what is kept is written too.  Whatever
 * does not look like a frame is written as it comes.
 *
 * Errors: a write that fails is reported by the write, sync or read that had it done, before the
 * commit returns; what was kept is dropped then, for SQLite rolls back and writes anew.
 *
 * Threads: as SQLite's; a file belongs to its connection.
 */
#ifndef FH_STORE_LOG_VFS_H
#define FH_STORE_LOG_VFS_H

#include "base/status.h"

/* At most so much is kept: 30 pages with their headers.  SQLite's own VFS for Unix fails where it
 * is given 128 KiB at once. */
enum { LOG_VFS_BYTES = 124 * 1024 };

/* The name, which lives as long as the process, of this VFS over base (NULL or "": the one that
 * SQLite uses unless told otherwise).  The same base gives the same name.
 * ST_NOT_FOUND: there is no such base; ST_NOMEM; ST_TOO_LARGE: more than four bases. */
MUST_CHECK enum status log_vfs_over(const char *base, const char **ret_name, struct err *err);

#endif
