/* libpq.h: PostgreSQL's client library, loaded at its first use: a machine without it can use every other store. The
 * declarations follow libpq's documented stable interface; the build needs no headers of it. */
#ifndef WT_STORE_LIBPQ_H
#define WT_STORE_LIBPQ_H

#include <stddef.h>

#include "base/error.h"

struct pg_conn;
struct pg_result;

struct pg_notify {
    char *channel;
    int pid;
    char *payload;
    struct pg_notify *next;
};

struct pg_parameter { /* PQconninfoOption */
    char *keyword, *variable, *compiled, *value, *label, *shown;
    int size;
};

enum { PG_CONNECTION_OK = 0 };
enum { PG_IDLE = 0 }; /* PGTransactionStatusType: no transaction */
enum { PG_COMMAND_OK = 1, PG_TUPLES_OK = 2, PG_FATAL_ERROR = 7 };
enum { PG_DIAG_STATE = 'C', PG_DIAG_PRIMARY = 'M' };
enum {
    PG_TYPE_ANY = 0,
    PG_TYPE_BYTEA = 17,
    PG_TYPE_INT8 = 20,
    PG_TYPE_TEXT = 25,
    PG_TYPE_BYTEA_ARRAY = 1001,
    PG_TYPE_TEXT_ARRAY = 1009,
    PG_TYPE_INT8_ARRAY = 1016
};

struct libpq {
    struct pg_conn *(*connectdbParams)(const char *const *keywords, const char *const *values, int expand_name);
    void (*finish)(struct pg_conn *);
    int (*status)(const struct pg_conn *);
    int (*transactionStatus)(const struct pg_conn *);
    char *(*errorMessage)(const struct pg_conn *);
    int (*backendPID)(const struct pg_conn *);
    int (*consumeInput)(struct pg_conn *);
    struct pg_notify *(*notifies)(struct pg_conn *);
    void (*freemem)(void *);
    void (*(*setNoticeProcessor)(struct pg_conn *, void (*)(void *, const char *), void *))(void *, const char *);
    struct pg_parameter *(*conninfoParse)(const char *url, char **message);
    void (*conninfoFree)(struct pg_parameter *);
    struct pg_result *(*exec)(struct pg_conn *, const char *sql);
    struct pg_result *(*prepare)(struct pg_conn *, const char *name, const char *sql, int count, const unsigned *types);
    struct pg_result *(*execParams)(struct pg_conn *, const char *sql, int count, const unsigned *types,
                                    const char *const *values, const int *lengths, const int *formats, int binary);
    struct pg_result *(*execPrepared)(struct pg_conn *, const char *name, int count, const char *const *values,
                                      const int *lengths, const int *formats, int binary);
    int (*resultStatus)(const struct pg_result *);
    char *(*resultErrorField)(const struct pg_result *, int field);
    char *(*cmdTuples)(struct pg_result *);
    int (*ntuples)(const struct pg_result *);
    int (*nfields)(const struct pg_result *);
    unsigned (*ftype)(const struct pg_result *, int column);
    char *(*getvalue)(const struct pg_result *, int row, int column);
    int (*getlength)(const struct pg_result *, int row, int column);
    int (*getisnull)(const struct pg_result *, int row, int column);
    void (*clear)(struct pg_result *);
};

/* Loads the library once. Thread-safe. Errors: WT_ENETWORK (not installed). */
int wt__libpq(const struct libpq **out, wt_error *err);

#endif
