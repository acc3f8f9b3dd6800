/* audit_log.c: see audit_log.h. */
#include "gateway/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"

#define BEGIN "{\"time\":\""
#define CHAIN ",\"chain\":\""
#define END "\"}"
enum {
    CHAIN_DIGITS = 64,
    LAST_BYTES = AUDIT_LINE_BYTES_MAX + 4096,
    NAME_BYTES = 500, /* of a name, where the line is too long */
};

struct audit_log {
    pthread_mutex_t lock;
    char *path;
    int fd;
    off_t size; /* of the file, as it was when it was last written from here */
    char chain[CHAIN_DIGITS + 1];
    double synced_ms;
    bool unsynced, lost; /* lost: the disk did not take what was written */
    wt_error error;      /* of the last attempt; code 0: none */
};

/* ---------------------------------------------------------------- the chain */

static void link_line(char chain[CHAIN_DIGITS + 1], struct str line)
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    wt__sha256_update(&sha, chain, strlen(chain));
    wt__sha256_update(&sha, line.ptr, line.len);
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, chain);
}

/* The chain that a line ends with, and the line before it. False: it has none. */
static bool chain_of(struct str line, struct str *before, struct str *chain)
{
    const size_t end = sizeof END - 1, tail = sizeof CHAIN - 1 + CHAIN_DIGITS + end;
    if (line.len < tail || memcmp(line.ptr + line.len - tail, CHAIN, sizeof CHAIN - 1) != 0 ||
        memcmp(line.ptr + line.len - end, END, end) != 0)
        return false;
    *before = (struct str){line.ptr, line.len - tail};
    *chain = (struct str){line.ptr + line.len - CHAIN_DIGITS - end, CHAIN_DIGITS};
    return true;
}

int wt__audit_check(struct str text, wt_error *err)
{
    char chain[CHAIN_DIGITS + 1] = "";
    for (size_t number = 1; text.len > 0; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct str line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len}, before, said;
        if (!chain_of(line, &before, &said))
            return wt__fail(err, WT_EFORMAT, "line %zu is no line of an audit", number);
        link_line(chain, before);
        if (!wt__str_equal(said, wt__str(chain)))
            return wt__fail(err, WT_EFORMAT, "line %zu does not follow from the one before it", number);
        size_t taken = line.len + (end != NULL);
        text = (struct str){text.ptr + taken, text.len - taken};
    }
    return 0;
}

/* ---------------------------------------------------------------- opening */

/* Where the last line begins that has its end; text ends with one. */
static size_t last_line(struct str text)
{
    size_t begin = text.len - 1;
    while (begin > 0 && text.ptr[begin - 1] != '\n')
        begin--;
    return begin;
}

/* Whether it is the beginning of a line of ours. */
static bool is_torn(struct str text)
{
    size_t len = text.len < sizeof BEGIN - 1 ? text.len : sizeof BEGIN - 1;
    return len == 0 || memcmp(text.ptr, BEGIN, len) == 0;
}

/* The chain of the last line. A line that a crash cut short is cut off, once it is sure that the file is ours. */
static int read_last(struct audit_log *log, wt_error *err)
{
    char bytes[LAST_BYTES];
    off_t size = lseek(log->fd, 0, SEEK_END);
    off_t from = size > (off_t)sizeof bytes ? size - (off_t)sizeof bytes : 0;
    ssize_t got = size < 0 ? -1 : pread(log->fd, bytes, sizeof bytes, from);
    if (got < 0)
        return wt__fail_errno(err, "read", log->path);
    struct str before, chain = {"", 0}, text = {bytes, (size_t)got};
    while (text.len > 0 && text.ptr[text.len - 1] != '\n')
        text.len--;
    bool ours = is_torn((struct str){bytes + text.len, (size_t)got - text.len});
    size_t begin = text.len > 0 ? last_line(text) : 0;
    if (text.len > 0)
        ours = ours && chain_of((struct str){text.ptr + begin, text.len - 1 - begin}, &before, &chain);
    if (!ours || (text.len == 0 && from > 0))
        return wt__fail(err, WT_EFORMAT, "%s ends with no line of an audit", log->path);
    log->size = from + (off_t)text.len;
    if (log->size < size && ftruncate(log->fd, log->size) != 0)
        return wt__fail_errno(err, "write", log->path);
    memcpy(log->chain, chain.ptr, chain.len);
    log->chain[chain.len] = '\0';
    return 0;
}

/* Several gateways may write one file: each goes on from the other one's last line. */
static int catch_up(struct audit_log *log, wt_error *err)
{
    struct stat now;
    if (flock(log->fd, LOCK_EX) != 0 || fstat(log->fd, &now) != 0)
        return wt__fail_errno(err, "read", log->path);
    return now.st_size == log->size ? 0 : read_last(log, err);
}

int wt__audit_open(struct audit_log **out, const char *path, wt_error *err)
{
    struct audit_log *log = calloc(1, sizeof *log);
    *out = NULL;
    if (!log)
        return wt__fail_nomem(err);
    pthread_mutex_init(&log->lock, NULL);
    log->size = -1;
    log->path = strdup(path);
    log->fd = log->path ? open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    int rc = !log->path ? wt__fail_nomem(err) : log->fd < 0 ? wt__fail_errno(err, "open", path) : catch_up(log, err);
    if (log->fd >= 0)
        flock(log->fd, LOCK_UN);
    if (rc < 0)
        wt__audit_close(log);
    else
        *out = log;
    return rc;
}

void wt__audit_close(struct audit_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0) {
        fdatasync(log->fd);
        close(log->fd);
    }
    pthread_mutex_destroy(&log->lock);
    free(log->path);
    free(log);
}

/* ---------------------------------------------------------------- writing */

static void member(struct buffer *out, const char *name, struct str text)
{
    wt__buffer_printf(out, ",\"%s\":", name);
    wt__buffer_json(out, text);
}

static void put_time(struct buffer *out)
{
    struct timespec now;
    char text[CLOCK_TEXT_BYTES];
    clock_gettime(CLOCK_REALTIME, &now);
    wt__clock_text(now.tv_sec, text);
    wt__buffer_printf(out, "{\"time\":\"%.*s.%03ldZ\"", (int)strlen(text) - 1, text, now.tv_nsec / 1000000);
}

static struct str shorten(struct str name, bool whole)
{
    return whole ? name : wt__str_head(name, NAME_BYTES);
}

static void put_line(struct buffer *out, const struct audit_line *line, bool whole)
{
    static const char *const decisions[] = {
        [AUDIT_ALLOWED] = "allowed",       [AUDIT_DENIED] = "denied",   [AUDIT_UNKNOWN] = "unknown",
        [AUDIT_WRONG_FACE] = "wrong_tool", [AUDIT_INVALID] = "invalid",
    };
    unsigned char digest[32];
    char hex[65];
    put_time(out);
    member(out, "principal", shorten(wt__str(line->principal), whole));
    if (line->profile)
        member(out, "profile", wt__str(line->profile));
    if (whole && line->client) {
        wt__buffer_text(out, ",\"client\":");
        wt__json_write(out, line->client);
    }
    member(out, "method", shorten(wt__str(line->method), whole));
    member(out, "asked", wt__str_head(line->asked, 200));
    if (line->server)
        member(out, "server", shorten(wt__str(line->server), whole));
    if (line->tool)
        member(out, "tool", shorten(wt__str(line->tool), whole));
    if (line->own_name)
        member(out, "own_name", shorten(wt__str(line->own_name), whole));
    if (line->uri.len > 0)
        member(out, "uri", shorten(line->uri, whole));
    if (line->prompt.len > 0)
        member(out, "prompt", shorten(line->prompt, whole));
    if (line->effect)
        member(out, "effect", wt__str(line->effect));
    if (line->sha256)
        member(out, "sha256", wt__str(line->sha256));
    member(out, "policy", wt__str(line->revision));
    wt__sha256(line->arguments.ptr ? line->arguments.ptr : "", line->arguments.len, digest);
    wt__sha256_hex(digest, hex);
    member(out, "arguments_sha256", wt__str(hex));
    member(out, "decision", wt__str(decisions[line->decision]));
    if (line->trace.len > 0)
        member(out, "trace", wt__str_head(line->trace, 200));
}

/* All of it, or nothing: what a full disk took of a line would be in the way of the next. */
static int append(struct audit_log *log, struct str text, wt_error *err)
{
    off_t after = log->size + (off_t)text.len;
    while (text.len > 0) {
        ssize_t n = write(log->fd, text.ptr, text.len);
        if (n < 0 && errno != EINTR) {
            wt__fail_errno(err, "write", log->path);
            (void)!ftruncate(log->fd, log->size);
            return err->code;
        }
        if (n > 0)
            text = (struct str){text.ptr + n, text.len - (size_t)n};
    }
    log->size = after;
    return 0;
}

/* What the disk did not take is gone: the next line waits for one that it takes. */
static int sync_file(struct audit_log *log, wt_error *err)
{
    log->lost = fdatasync(log->fd) != 0;
    return log->lost ? wt__fail_errno(err, "write", log->path) : 0;
}

/* Under the lock. */
static int chain_up(struct audit_log *log, struct buffer *text, struct audit_mark *mark, wt_error *err)
{
    char chain[CHAIN_DIGITS + 1];
    int rc = log->lost ? sync_file(log, err) : 0;
    if (rc == 0)
        rc = catch_up(log, err);
    memcpy(chain, log->chain, sizeof chain);
    link_line(chain, wt__buffer_view(text));
    wt__buffer_printf(text, CHAIN "%s" END "\n", chain);
    if (rc == 0)
        rc = text->failed ? wt__fail_nomem(err) : append(log, wt__buffer_view(text), err);
    flock(log->fd, LOCK_UN);
    if (rc < 0)
        return rc;
    memcpy(log->chain, chain, sizeof chain);
    log->unsynced = true;
    if (mark)
        snprintf(mark->digits, sizeof mark->digits, "%.*s", AUDIT_MARK_DIGITS, chain);
    return 0;
}

static int write_text(struct audit_log *log, struct buffer *text, struct audit_mark *mark, wt_error *err)
{
    wt_error why = {0};
    pthread_mutex_lock(&log->lock);
    int rc = chain_up(log, text, mark, &why);
    log->error = why;
    pthread_mutex_unlock(&log->lock);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int wt__audit_write(struct audit_log *log, const struct audit_line *line, struct audit_mark *mark, wt_error *err)
{
    struct buffer text = {0};
    if (!log)
        return 0;
    put_line(&text, line, true);
    if (text.len > AUDIT_LINE_BYTES_MAX) {
        wt__buffer_clear(&text);
        put_line(&text, line, false);
    }
    int rc = write_text(log, &text, mark, err);
    wt__buffer_dispose(&text);
    return rc;
}

int wt__audit_end(struct audit_log *log, const struct audit_mark *mark, const struct audit_ending *ending,
                  wt_error *err)
{
    struct buffer text = {0};
    if (!log)
        return 0;
    put_time(&text);
    member(&text, "of", wt__str(mark->digits));
    member(&text, "outcome", wt__str(ending->outcome));
    wt__buffer_printf(&text, ",\"bytes\":%zu,\"ms\":%.1f", ending->bytes, ending->ms);
    int rc = write_text(log, &text, NULL, err);
    wt__buffer_dispose(&text);
    return rc;
}

void wt__audit_sync(struct audit_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->lock);
    bool due = log->unsynced && wt__now_ms() - log->synced_ms >= AUDIT_SYNC_MS;
    if (due) {
        log->unsynced = false;
        log->synced_ms = wt__now_ms();
    }
    pthread_mutex_unlock(&log->lock);
    if (!due || fdatasync(log->fd) == 0)
        return;
    int why = errno;
    pthread_mutex_lock(&log->lock);
    log->lost = true;
    errno = why;
    wt__fail_errno(&log->error, "write", log->path);
    pthread_mutex_unlock(&log->lock);
}

bool wt__audit_is_failing(struct audit_log *log, wt_error *why)
{
    if (!log)
        return false;
    pthread_mutex_lock(&log->lock);
    *why = log->error;
    pthread_mutex_unlock(&log->lock);
    return why->code != 0;
}
