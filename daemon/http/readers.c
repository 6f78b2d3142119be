/*
 * http/readers.c - see readers.h.
 */
#include "http/readers.h"

#include "http/server.h"
#include "store/store.h"

/* Each pool thread keeps a reader of the server that it belongs to. */
static _Thread_local struct {
    uint64_t generation;
    struct store_reader *reader;
    bool is_reading;
} mine;

enum status pool_conn(struct http *http, struct store_conn **ret, struct err *err)
{
    enum status st;

    if (mine.generation != http->generation) {
        struct store_reader *reader = NULL;

        pthread_mutex_lock(&http->lock);
        if (http->n_readers == COUNT_OF(http->readers))
            st = err_detail(err, REASON_BUSY, "refusal.readers", "no more readers");
        else
            st = store_reader_open(http->options.store, &reader, err);
        if (st == ST_OK)
            http->readers[http->n_readers++] = reader;
        pthread_mutex_unlock(&http->lock);
        if (st != ST_OK)
            return st;
        mine.generation = http->generation;
        mine.reader = reader;
        mine.is_reading = false;
    }
    if (!mine.is_reading) {
        st = store_read_begin(mine.reader, err);
        if (st != ST_OK)
            return st;
        mine.is_reading = true;
    }
    *ret = store_reader_conn(mine.reader);
    return ST_OK;
}

void pool_conn_done(struct http *http)
{
    if (mine.generation == http->generation && mine.is_reading) {
        store_read_end(mine.reader);
        mine.is_reading = false;
    }
}

enum status request_conn(struct request *r, struct store_conn **ret, struct err *err)
{
    return pool_conn(r->http, ret, err);
}
