/* audit_log.c: writes, follows and rotates the audit log (audit.h). */
#include "gateway/audit.h"

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
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "text/shown.h"

#define BEGIN "{\"time\":\""
enum {
    LINE_BYTES = AUDIT_LINE_BYTES_MAX + 4096, /* maximum length of a line with its number and link */
    NAME_BYTES = 500,                         /* maximum length of a name in a shortened line */
    OPEN_TRIES = 5,                           /* the log may be rotated while it is opened */
    STAMP_BYTES = 20,                         /* room for "20261127T111104Z" and its NUL */
};

struct audit_log {
    pthread_mutex_t lock;        /* protects size, chain and the members from synced_ms on */
    char *path;                  /* path, with symbolic links resolved if the file existed when it was opened */
    int fd;                      /* -1 if the file is not open */
    off_t size;                  /* length of the file up to the last line of the chain */
    struct audit_chain chain;    /* state after that line */
    const struct audit_key *key; /* points to own_key; NULL if no key was given */
    struct audit_key own_key;
    double synced_ms;  /* time of the last sync, by wt__now_ms */
    bool unsynced;     /* lines, or the head, are not on disk yet */
    bool lost;         /* fdatasync failed, so that written lines may be lost */
    bool is_misplaced; /* the file at the path is not the log, or lacks lines; see `error` */
    wt_error error;    /* last error; cleared by a successful write, and when a misplaced file is whole again */
};

/* ---------------------------------------------------------------- reading the file */

/* Advice in errors, to be followed by the operator. */
#define RECOVER "; put the file back, or stop the gateway, move the log and its .head file away, and start again"

/* True if the text may be the beginning of an audit line. */
static bool is_torn_line(struct str text)
{
    size_t len = text.len < sizeof BEGIN - 1 ? text.len : sizeof BEGIN - 1;
    return len == 0 || memcmp(text.ptr, BEGIN, len) == 0;
}

/* Checks the lines from offset *at to the end of the file. Advances *at and *chain past the last complete line. An
 * incomplete last line, which a crash may leave, is not an error. */
static int follow_lines(const struct audit_log *log, int fd, off_t *at, struct audit_chain *chain, wt_error *err)
{
    char bytes[LINE_BYTES];
    wt_error why;
    for (;;) {
        ssize_t got = wt__file_read_at(fd, bytes, sizeof bytes, *at);
        if (got < 0)
            return wt__fail_errno(err, "read", log->path);
        size_t begin = 0;
        const char *end;
        while ((end = memchr(bytes + begin, '\n', (size_t)got - begin)) != NULL) {
            size_t len = (size_t)(end - bytes) - begin;
            int rc = wt__audit_check_line(chain, log->key, (struct str){bytes + begin, len}, &why);
            if (rc < 0)
                return wt__fail(err, rc, "%s: %s", log->path, why.message);
            begin += len + 1;
            *at += (off_t)len + 1;
        }
        if (begin == 0 && got == (ssize_t)sizeof bytes)
            return wt__fail(err, WT_EFORMAT, "%s has a line that is too long for an audit log", log->path);
        if (begin == 0)
            return is_torn_line((struct str){bytes, (size_t)got})
                       ? 0
                       : wt__fail(err, WT_EFORMAT, "%s does not end with a line of an audit log", log->path);
    }
}

/* Checks that the lines from offset `from` follow the chain, and sets log->chain and log->size to the end of the last
 * line. Removes an incomplete line at the end. */
static int read_new_lines(struct audit_log *log, off_t from, const struct audit_chain *chain, wt_error *err)
{
    struct audit_chain next = *chain;
    struct stat now;
    WT_TRY(follow_lines(log, log->fd, &from, &next, err));
    if (fstat(log->fd, &now) != 0 || (now.st_size > from && ftruncate(log->fd, from) != 0))
        return wt__fail_errno(err, "write", log->path);
    log->size = from;
    log->chain = next;
    return 0;
}

/* True if a line with this link ends at offset `end`, or if `end` is 0 and the link is "". */
static bool has_link_at(int fd, off_t end, const char *link)
{
    char bytes[AUDIT_LINK_END + 1];
    off_t from = end - (off_t)sizeof bytes;
    if (end == 0)
        return link[0] == '\0';
    return from >= 0 && wt__file_read_at(fd, bytes, sizeof bytes, from) == (ssize_t)sizeof bytes &&
           memcmp(bytes, link, AUDIT_LINK_DIGITS) == 0 && bytes[AUDIT_LINK_END] == '\n';
}

/* True if the file was begun by a rotation, and its first line continues the line with this link. */
static bool begins_after(int fd, const char *link)
{
    char bytes[512];
    ssize_t got = wt__file_read_at(fd, bytes, sizeof bytes, 0);
    struct str continues = wt__audit_continues((struct str){bytes, got > 0 ? (size_t)got : 0});
    return link[0] != '\0' && wt__str_equal(continues, wt__str(link));
}

/* True if the path leads to the open file. */
static bool is_at_path(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* ---------------------------------------------------------------- opening */

/* Opens and locks the file at the path. Tries again if another process rotated the log between opening and locking. */
static int open_locked(struct audit_log *log, int flags, wt_error *err)
{
    for (int i = 0; i < OPEN_TRIES; i++) {
        log->fd = open(log->path, O_RDWR | O_APPEND | O_CLOEXEC | flags, 0600);
        if (log->fd < 0)
            return wt__fail_errno(err, "open", log->path);
        if (flock(log->fd, LOCK_EX) != 0)
            return wt__fail_errno(err, "read", log->path);
        if (is_at_path(log->fd, log->path))
            return 0;
        close(log->fd);
        log->fd = -1;
    }
    return wt__fail(err, WT_EBUSY, "%s is being replaced repeatedly; try again", log->path);
}

/* Reads a log without a head: a new log, or a log of an earlier version, which wrote neither heads nor line numbers.
 * Fails if the last line has a number. */
static int read_headless(struct audit_log *log, wt_error *err)
{
    WT_TRY(read_new_lines(log, 0, &(struct audit_chain){0}, err));
    if (!log->chain.has_number)
        return 0;
    return wt__fail(err, WT_EFORMAT, "%s" AUDIT_HEAD_SUFFIX " is missing: %s may be incomplete" RECOVER, log->path,
                    log->path);
}

/* Reads the lines written after the head. Fails unless the line recorded in the head still ends at the recorded length,
 * or the file's first line continues the recorded line after a rotation. */
static int read_from_head(struct audit_log *log, const struct audit_head *head, wt_error *err)
{
    struct stat now;
    if (fstat(log->fd, &now) != 0)
        return wt__fail_errno(err, "read", log->path);
    if (has_link_at(log->fd, (off_t)head->bytes, head->chain.link))
        return read_new_lines(log, (off_t)head->bytes, &head->chain, err);
    if (begins_after(log->fd, head->chain.link)) /* a rotation was interrupted before it wrote the new head */
        return read_new_lines(log, 0, &head->chain, err);
    return wt__fail(err, WT_EFORMAT, "%s was %s since line %llu was written" RECOVER, log->path,
                    (uint64_t)now.st_size < head->bytes ? "cut" : "changed", (unsigned long long)head->chain.number);
}

static int open_log_file(struct audit_log *log, wt_error *err)
{
    struct audit_head head;
    int has_head = wt__audit_head_read(&head, log->path, log->key, err);
    if (has_head < 0)
        return has_head;
    if (has_head && head.bytes > 0 && access(log->path, F_OK) != 0)
        return wt__fail(err, WT_EFORMAT, "%s, which ended with line %llu, was moved or removed" RECOVER, log->path,
                        (unsigned long long)head.chain.number);
    WT_TRY(open_locked(log, O_CREAT, err));
    has_head = wt__audit_head_read(&head, log->path, log->key, err); /* again, now that the log is locked */
    if (has_head < 0)
        return has_head;
    WT_TRY(has_head ? read_from_head(log, &head, err) : read_headless(log, err));
    return wt__audit_head_write(log->path, (uint64_t)log->size, &log->chain, log->key, err);
}

/* Opens a log. Unlike wt__audit_open, accepts a log whose lines have no HMAC although a key is given. */
static int open_log_with_key(struct audit_log **out, const char *path, const struct audit_key *key, wt_error *err)
{
    struct audit_log *log = calloc(1, sizeof *log);
    *out = NULL;
    WT_CHECK_ALLOC(log, err);
    pthread_mutex_init(&log->lock, NULL);
    log->fd = -1;
    if (key) {
        log->own_key = *key;
        log->key = &log->own_key;
    }
    log->path = realpath(path, NULL); /* resolve symbolic links now, so that a changed link does not change the log */
    if (!log->path && errno == ENOENT)
        log->path = strdup(path);
    int rc = log->path ? open_log_file(log, err) : wt__fail_errno(err, "open", path);
    if (log->fd >= 0)
        flock(log->fd, LOCK_UN);
    if (rc == 0) {
        *out = log;
        return 0;
    }
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
    wt__audit_close(log);
    return rc;
}

int wt__audit_open(struct audit_log **out, const char *path, const struct audit_key *key, wt_error *err)
{
    int rc = open_log_with_key(out, path, key, err);
    if (rc < 0 || !key || (*out)->chain.is_keyed || (*out)->size == 0)
        return rc;
    wt__audit_close(*out);
    *out = NULL;
    return wt__fail(err, WT_EINVAL,
                    "the lines of %s have no HMAC; start a file with an HMAC by `mcp audit FILE --rotate --audit-key "
                    "KEY`",
                    path);
}

void wt__audit_close(struct audit_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0) {
        flock(log->fd, LOCK_EX);
        /* The head must not refer to another file, or to lines not yet on disk. */
        if (fdatasync(log->fd) == 0 && is_at_path(log->fd, log->path))
            wt__audit_head_write(log->path, (uint64_t)log->size, &log->chain, log->key, NULL);
        close(log->fd);
    }
    pthread_mutex_destroy(&log->lock);
    wt__audit_key_forget(&log->own_key);
    free(log->path);
    free(log);
}

/* Switches the log to the file that is now at the path. fd: that file, or -1 if it could not be opened. Reads the old
 * file to its end first, since another gateway may have written its last line. Fails unless the first line of fd
 * continues that last line. */
static int follow_rotated(struct audit_log *log, int fd, wt_error *err)
{
    struct audit_chain chain = log->chain;
    off_t size = log->size, begin = 0;
    WT_TRY(follow_lines(log, log->fd, &size, &chain, err));
    if (fd < 0 || flock(fd, LOCK_EX) != 0 || !is_at_path(fd, log->path) || !begins_after(fd, chain.link))
        return wt__fail(err, WT_EFORMAT, "%s was moved, removed or replaced" RECOVER, log->path);
    WT_TRY(follow_lines(log, fd, &begin, &chain, err));
    if (dup3(fd, log->fd, O_CLOEXEC) < 0) /* keep the descriptor, which wt__audit_sync uses without the lock */
        return wt__fail_errno(err, "open", log->path);
    log->size = begin;
    log->chain = chain;
    return 0;
}

static int adopt_rotated(struct audit_log *log, wt_error *err)
{
    int fd = open(log->path, O_RDWR | O_APPEND | O_CLOEXEC);
    int rc = follow_rotated(log, fd, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Locks the file, checks that it is the log with all its lines, and reads lines appended by other gateways. */
static int follow_file(struct audit_log *log, wt_error *err)
{
    struct stat now;
    if (flock(log->fd, LOCK_EX) != 0)
        return wt__fail_errno(err, "read", log->path);
    if (!is_at_path(log->fd, log->path))
        WT_TRY(adopt_rotated(log, err));
    if (fstat(log->fd, &now) != 0)
        return wt__fail_errno(err, "read", log->path);
    if (now.st_size < log->size || !has_link_at(log->fd, log->size, log->chain.link))
        return wt__fail(err, WT_EFORMAT, "%s was %s after line %llu" RECOVER, log->path,
                        now.st_size < log->size ? "cut" : "changed", (unsigned long long)log->chain.number);
    return now.st_size == log->size ? 0 : read_new_lines(log, log->size, &log->chain, err);
}

/* ---------------------------------------------------------------- writing */

static void put_log_member(struct buffer *out, const char *name, struct str text)
{
    wt__buffer_printf(out, ",\"%s\":", name);
    wt__shown_string(out, text);
}

static void put_line_time(struct buffer *out)
{
    struct timespec now;
    char text[CLOCK_TEXT_BYTES];
    clock_gettime(CLOCK_REALTIME, &now);
    wt__clock_text(now.tv_sec, text);
    wt__buffer_printf(out, "{\"time\":\"%.*s.%03ldZ\"", (int)strlen(text) - 1, text, now.tv_nsec / 1000000);
}

static void put_sha256(struct buffer *out, const char *name, struct str text)
{
    unsigned char digest[32];
    char hex[65];
    wt__sha256(text.ptr ? text.ptr : "", text.len, digest);
    wt__sha256_hex(digest, hex);
    put_log_member(out, name, wt__str(hex));
}

/* Appends the members of a line. If not whole, leaves out the client's description and cuts names to NAME_BYTES. */
static void put_decision(struct buffer *out, const struct audit_line *line, bool whole)
{
    static const char *const decisions[] = {
        [AUDIT_ALLOWED] = "allowed",       [AUDIT_DENIED] = "denied",   [AUDIT_UNKNOWN] = "unknown",
        [AUDIT_WRONG_FACE] = "wrong_tool", [AUDIT_INVALID] = "invalid",
    };
    const struct {
        const char *name;
        struct str value; /* left out if empty */
    } names[] = {{"server", wt__str(line->server)},
                 {"tool", wt__str(line->tool)},
                 {"own_name", wt__str(line->own_name)},
                 {"uri", line->uri},
                 {"prompt", line->prompt},
                 {"effect", wt__str(line->effect)},
                 {"sha256", wt__str(line->sha256)}};
    const size_t most = whole ? SIZE_MAX : NAME_BYTES;
    put_line_time(out);
    put_log_member(out, "principal", wt__str_head(wt__str(line->principal), most));
    if (line->tenant && *line->tenant)
        put_log_member(out, "tenant", wt__str(line->tenant));
    if (line->profile)
        put_log_member(out, "profile", wt__str(line->profile));
    if (whole && line->client) {
        wt__buffer_text(out, ",\"client\":");
        wt__shown_value(out, line->client);
    }
    put_log_member(out, "method", wt__str_head(wt__str(line->method), most));
    put_log_member(out, "asked", wt__str_head(line->asked, 200));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].value.len > 0)
            put_log_member(out, names[i].name, wt__str_head(names[i].value, most));
    put_log_member(out, "policy", wt__str(line->revision));
    put_sha256(out, "arguments_sha256", line->arguments);
    if (line->repaired_from.len > 0)
        put_sha256(out, "repaired_from_sha256", line->repaired_from);
    if (line->unchecked)
        put_log_member(out, "schema_unchecked", wt__str(line->unchecked));
    put_log_member(out, "decision", wt__str(decisions[line->decision]));
    if (line->trace.len > 0)
        put_log_member(out, "trace", wt__str_head(line->trace, 200));
}

/* Appends the whole text or leaves the file as it was, so that a full disk does not leave half a line. */
static int append_text(struct audit_log *log, struct str text, wt_error *err)
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

/* Syncs the file. After a failure, append_line writes no line until a sync succeeds. */
static int sync_file(struct audit_log *log, wt_error *err)
{
    log->lost = fdatasync(log->fd) != 0;
    return log->lost ? wt__fail_errno(err, "write", log->path) : 0;
}

/* Completes the line and appends it to the file. mark: as in wt__audit_write. Call with the lock held. */
static int append_line(struct audit_log *log, struct buffer *text, struct audit_mark *mark, wt_error *err)
{
    int rc = log->lost ? sync_file(log, err) : 0;
    if (rc == 0)
        rc = follow_file(log, err);
    struct audit_chain next = log->chain;
    wt__audit_link(&next, log->key, text);
    if (rc == 0)
        rc = text->failed ? wt__fail_nomem(err) : append_text(log, wt__buffer_view(text), err);
    flock(log->fd, LOCK_UN);
    if (rc < 0)
        return rc;
    log->chain = next;
    log->unsynced = true;
    if (mark)
        snprintf(mark->digits, sizeof mark->digits, "%.*s", AUDIT_MARK_DIGITS, next.link);
    return 0;
}

static int write_text(struct audit_log *log, struct buffer *text, struct audit_mark *mark, wt_error *err)
{
    wt_error why = {0};
    pthread_mutex_lock(&log->lock);
    int rc = append_line(log, text, mark, &why);
    log->error = why;
    log->is_misplaced = rc == WT_EFORMAT;
    pthread_mutex_unlock(&log->lock);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

int wt__audit_write(struct audit_log *log, const struct audit_line *line, struct audit_mark *mark, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (!log)
        return 0;
    put_decision(&text, line, true);
    if (text.len > AUDIT_LINE_BYTES_MAX) {
        wt__buffer_clear(&text);
        put_decision(&text, line, false);
    }
    return write_text(log, &text, mark, err);
}

int wt__audit_write_outcome(struct audit_log *log, const struct audit_mark *mark, const struct audit_outcome *ending,
                            wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    if (!log)
        return 0;
    put_line_time(&text);
    put_log_member(&text, "of", wt__str(mark->digits));
    put_log_member(&text, "outcome", wt__str(ending->outcome));
    wt__buffer_printf(&text, ",\"bytes\":%zu,\"ms\":%.1f", ending->bytes, ending->ms);
    return write_text(log, &text, NULL, err);
}

/* Checks if the log was moved or rotated, so that the operator learns of it before the next line is written. */
static void check_log_file(struct audit_log *log)
{
    wt_error why = {0};
    pthread_mutex_lock(&log->lock);
    if (log->is_misplaced || !is_at_path(log->fd, log->path)) {
        bool is_sound = follow_file(log, &why) == 0;
        flock(log->fd, LOCK_UN);
        if (log->is_misplaced || !is_sound)
            log->error = why;
        log->is_misplaced = !is_sound;
    }
    pthread_mutex_unlock(&log->lock);
}

void wt__audit_sync(struct audit_log *log)
{
    wt_error why;
    if (!log)
        return;
    check_log_file(log);
    pthread_mutex_lock(&log->lock);
    bool due = log->unsynced && wt__now_ms() - log->synced_ms >= AUDIT_SYNC_MS;
    const struct audit_chain chain = log->chain;
    const uint64_t size = (uint64_t)log->size;
    if (due) {
        log->unsynced = false;
        log->synced_ms = wt__now_ms();
    }
    pthread_mutex_unlock(&log->lock);
    if (!due)
        return;
    bool synced = fdatasync(log->fd) == 0;
    if (!synced)
        wt__fail_errno(&why, "write", log->path);
    else if (!is_at_path(log->fd, log->path) || /* the next write reports the moved file */
             wt__audit_head_write(log->path, size, &chain, log->key, &why) == 0)
        return;
    pthread_mutex_lock(&log->lock);
    log->lost |= !synced;
    log->unsynced = true; /* write the head next time */
    log->error = why;
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

/* ---------------------------------------------------------------- rotating */

/* Appends the first line of the next file to out, and advances the chain. kept: new path of the old file. */
static int put_first_line(struct audit_log *log, struct buffer *out, const char *kept, struct audit_chain *chain,
                          wt_error *err)
{
    const char *slash = strrchr(kept, '/');
    put_line_time(out);
    put_log_member(out, "continues", wt__str(log->chain.link));
    put_log_member(out, "previous", wt__str(slash ? slash + 1 : kept));
    wt__audit_link(chain, log->key, out);
    return out->failed ? wt__fail_nomem(err) : 0;
}

/* Replaces the old file with the new file atomically. The new file gets the mode and the owner of the old file. */
static int put_next_file(struct audit_log *log, struct str line, wt_error *err)
{
    WT_CLEANUP(wt__replace_abort) struct replace replace = {.fd = -1};
    struct stat old;
    WT_TRY(wt__replace_begin(&replace, log->path, err));
    if (fstat(log->fd, &old) != 0 || fchmod(replace.fd, old.st_mode & 0777) != 0)
        return wt__fail_errno(err, "write", log->path);
    if (old.st_uid != geteuid() && fchown(replace.fd, old.st_uid, old.st_gid) != 0)
        return wt__fail_errno(err, "keep the owner of", log->path);
    WT_TRY(wt__replace_write(&replace, line.ptr, line.len, err));
    return wt__replace_commit(&replace, err);
}

/* Rotates the file. Leaves the old file locked. The old file gets its new name before a new file replaces it at the
 * path, so that a crash loses no line. */
static int rotate_file(struct audit_log *log, char **kept, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {0}, name = {0};
    char stamp[STAMP_BYTES];
    struct tm utc;
    time_t now = time(NULL);
    WT_TRY(follow_file(log, err));
    struct audit_chain chain = log->chain;
    if (log->size == 0)
        return wt__fail(err, WT_EINVAL, "cannot rotate %s: it has no lines", log->path);
    WT_TRY(sync_file(log, err));
    WT_TRY(wt__audit_head_write(log->path, (uint64_t)log->size, &log->chain, log->key, err));
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    wt__buffer_printf(&name, "%s.%s", log->path, stamp);
    if (name.failed)
        return wt__fail_nomem(err);
    WT_TRY(put_first_line(log, &line, name.ptr, &chain, err));
    if (link(log->path, name.ptr) != 0)
        return wt__fail_errno(err, "write", name.ptr);
    WT_TRY(put_next_file(log, wt__buffer_view(&line), err));
    log->chain = chain;
    *kept = wt__buffer_take(&name);
    return wt__audit_head_write(log->path, line.len, &chain, log->key, err);
}

int wt__audit_rotate(char **kept, uint64_t *number, const char *path, const struct audit_key *key, wt_error *err)
{
    struct audit_log *log;
    *kept = NULL;
    if (access(path, F_OK) != 0)
        return wt__fail_errno(err, "open", path);
    int rc = open_log_with_key(&log, path, key, err);
    if (rc < 0)
        return rc;
    rc = rotate_file(log, kept, err);
    *number = log->chain.number;
    wt__audit_close(log);
    if (rc < 0) {
        free(*kept);
        *kept = NULL;
    }
    return rc;
}
