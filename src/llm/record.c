/* record.c: records and replays answers. See record.h. The file is read once, when the record is opened. Answers that
 * other processes append later are not seen. */
#include "llm/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "llm/internal.h"
#include "llm/plain_text.h"

enum { KEY_DIGITS = 64, SHOWN_BYTES = 80 }; /* SHOWN_BYTES: bytes quoted from a question without a recorded answer */

struct record_entry {
    struct str text, error; /* error: why the answer is unusable; empty if it is usable */
    uint64_t prompt_tokens, completion_tokens;
    double ms; /* time of the original answer */
    unsigned attempts;
    bool repaired;
};

struct chat_record {
    struct chat_model model;  /* first member, so that its pointer can be cast */
    struct chat_model *inner; /* answers new questions; NULL for replay only */
    const char *path;
    int fd;               /* open for appending; -1 for replay only */
    bool relaxed;         /* sync only when closing */
    pthread_mutex_t lock; /* guards the members below */
    struct arena arena;   /* keys and texts */
    struct map map;       /* key to index in entries */
    struct record_entry *entries;
    size_t count, capacity;
};

/* Returns the canonical object of a question, or NULL if out of memory. */
static json_t *describe_question(const char *model_name, const struct chat_question *question, json_t *text)
{
    unsigned thousandths = wt__chat_thousandths(question->temperature), top = wt__chat_thousandths(question->top_p);
    WT_CLEANUP(json_decrefp)
    json_t *object = json_pack("{s:s, s:s, s:O, s:O?, s:I}", "model", model_name, "task", question->task, "text", text,
                               "schema", (json_t *)question->schema, "max_tokens", (json_int_t)question->max_tokens);
    if (!object)
        return NULL;
    if (thousandths > 0 && (json_object_set_new(object, "thousandths", json_integer((json_int_t)thousandths)) < 0 ||
                            json_object_set_new(object, "seed", json_integer((json_int_t)question->seed)) < 0))
        return NULL;
    if (thousandths > 0 && top > 0 && json_object_set_new(object, "top_p", json_integer((json_int_t)top)) < 0)
        return NULL;
    return WT_TAKE(object);
}

int wt__chat_record_key(const char *model_name, const struct chat_question *question, char key[65], wt_error *err)
{
    unsigned char digest[32];
    const char *text = question->text.ptr ? question->text.ptr : "";
    WT_CLEANUP(json_decrefp) json_t *string = json_stringn(text, question->text.len);
    if (!string) /* NULL may mean out of memory; a second NULL is taken for invalid UTF-8 */
        string = json_stringn(text, question->text.len);
    if (!string)
        return wt__fail(err, WT_EFORMAT, "a question to a language model (%s) is not UTF-8", question->task);
    WT_CLEANUP(json_decrefp) json_t *object = describe_question(model_name, question, string);
    WT_CHECK_ALLOC(object, err);
    WT_AUTO_FREE char *canonical = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    WT_CHECK_ALLOC(canonical, err);
    wt__sha256(canonical, strlen(canonical), digest);
    wt__sha256_hex(digest, key);
    return 0;
}

static const struct record_entry *lookup_entry(const struct chat_record *record, const char *key)
{
    const uint32_t *place = wt__map_get(&record->map, (struct str){key, KEY_DIGITS});
    return place ? &record->entries[*place] : NULL;
}

/* Adds a copy of `entry` unless the key exists. Returns 0, or -1 if out of memory. */
static int insert_entry(struct chat_record *record, struct str key, const struct record_entry *entry)
{
    bool added;
    if (wt__map_get(&record->map, key))
        return 0;
    if (wt__grow((void **)&record->entries, &record->capacity, record->count + 1, sizeof *entry) < 0)
        return -1;
    const char *name = wt__arena_copy(&record->arena, key), *text = wt__arena_copy(&record->arena, entry->text),
               *error = wt__arena_copy(&record->arena, entry->error);
    if (!name || !text || !error ||
        !wt__map_insert(&record->map, (struct str){name, key.len}, (uint32_t)record->count, &added))
        return -1;
    struct record_entry *kept = &record->entries[record->count++];
    *kept = *entry;
    kept->text.ptr = text;
    kept->error.ptr = error;
    return 0;
}

/* ---------------------------------------------------------------- reading the file */

static uint64_t clamp_to_zero(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

/* Reads a line of the file. A line that is not an answer is ignored. Returns 0 or WT_ENOMEM. */
static int read_answer_line(struct chat_record *record, struct str line, wt_error *err)
{
    WT_CLEANUP(json_decrefp) json_t *object = NULL;
    int rc = wt__json_parse(&object, line.ptr, line.len, NULL);
    if (rc < 0)
        return rc == WT_ENOMEM ? wt__fail_nomem(err) : 0;
    struct str key = wt__json_str(object, "key");
    struct record_entry entry = {
        .text = wt__json_str(object, "answer"),
        .error = wt__json_str(object, "error"),
        .prompt_tokens = clamp_to_zero(wt__json_int(object, "prompt_tokens", 0)),
        .completion_tokens = clamp_to_zero(wt__json_int(object, "completion_tokens", 0)),
        .ms = wt__json_real(object, "ms", 0),
        .attempts = (unsigned)clamp_to_zero(wt__json_int(object, "attempts", 0)),
        .repaired = wt__json_bool(object, "repaired", false),
    };
    bool whole = key.len == KEY_DIGITS && (entry.error.len > 0 || json_is_string(json_object_get(object, "answer")));
    return whole && insert_entry(record, key, &entry) < 0 ? wt__fail_nomem(err) : 0;
}

static int read_record_file(struct chat_record *record, wt_error *err)
{
    WT_AUTO_FREE char *bytes = NULL;
    size_t size, len;
    WT_TRY(wt__file_read(&bytes, &size, record->path, CHAT_RECORD_FILE_BYTES_MAX, err));
    for (size_t at = 0; at < size; at += len + 1) {
        const char *end = memchr(bytes + at, '\n', size - at);
        len = end ? (size_t)(end - bytes) - at : size - at;
        struct str line = wt__str_trim((struct str){bytes + at, len});
        if (line.len > 0 && line.len <= CHAT_RECORD_LINE_BYTES_MAX && read_answer_line(record, line, err) < 0)
            return WT_ENOMEM;
    }
    return 0;
}

/* ---------------------------------------------------------------- adding to the file */

static void write_answer_line(struct buffer *out, const char *key, const struct chat_question *question,
                              const struct record_entry *entry)
{
    wt__buffer_printf(out, "{\"key\":\"%s\",\"task\":", key);
    wt__buffer_json(out, wt__str(question->task));
    wt__buffer_text(out, entry->error.len > 0 ? ",\"error\":" : ",\"answer\":");
    wt__buffer_json(out, entry->error.len > 0 ? entry->error : entry->text);
    wt__buffer_printf(
        out, ",\"prompt_tokens\":%llu,\"completion_tokens\":%llu,\"ms\":%.1f,\"attempts\":%u,\"repaired\":%s}\n",
        (unsigned long long)entry->prompt_tokens, (unsigned long long)entry->completion_tokens, entry->ms,
        entry->attempts, entry->repaired ? "true" : "false");
}

/* True if the file ends without a newline, after a write that was cut off. */
static bool ends_torn(int fd)
{
    struct stat info;
    char last;
    return fstat(fd, &info) == 0 && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

/* Appends a line under a file lock, and syncs unless the record is relaxed. The line must begin with a newline, which
 * is only written if the last line of the file is torn. */
static int append_record(const struct chat_record *record, struct buffer *line, wt_error *err)
{
    struct str bytes = wt__buffer_view(line);
    int rc = 0;
    while (flock(record->fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return wt__fail_errno(err, "lock", record->path);
    if (!ends_torn(record->fd))
        bytes = (struct str){bytes.ptr + 1, bytes.len - 1}; /* skip the leading newline */
    ssize_t written = write(record->fd, bytes.ptr, bytes.len);
    if (written >= 0 && (size_t)written < bytes.len)
        errno = ENOSPC; /* the next append starts a new line */
    if (written < 0 || (size_t)written < bytes.len || (!record->relaxed && fdatasync(record->fd) < 0))
        rc = wt__fail_errno(err, "write", record->path);
    flock(record->fd, LOCK_UN);
    return rc;
}

/* Adds the answer to the file and to the map. The caller must hold the lock. */
static int add_answer(struct chat_record *record, const char *key, const struct chat_question *question,
                      const struct record_entry *entry, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer line = {.max = CHAT_RECORD_LINE_BYTES_MAX};
    wt__buffer_char(&line, '\n');
    write_answer_line(&line, key, question, entry);
    if (line.failed)
        return wt__fail_nomem(err);
    WT_TRY(append_record(record, &line, err));
    return insert_entry(record, (struct str){key, KEY_DIGITS}, entry) < 0 ? wt__fail_nomem(err) : 0;
}

/* Sets *out to a recorded answer, or returns the recorded error WT_EFORMAT. */
static int replay_entry(const struct chat_record *record, const struct record_entry *entry,
                        const struct chat_question *question, struct arena *arena, struct chat_answer *out,
                        wt_error *err)
{
    *out = (struct chat_answer){
        .prompt_tokens = entry->prompt_tokens,
        .completion_tokens = entry->completion_tokens,
        .ms = entry->ms,
        .repaired = entry->repaired,
    };
    if (entry->error.len > 0)
        return wt__fail(err, WT_EFORMAT, "%.*s", (int)entry->error.len, entry->error.ptr);
    const char *copy = wt__arena_copy(arena, entry->text);
    WT_CHECK_ALLOC(copy, err);
    out->text = (struct str){copy, entry->text.len};
    int rc = question->schema ? wt__answer_read(&out->json, out->text, question, err) : 0;
    return rc == WT_EFORMAT ? wt__fail_context(err, rc, "%s: the answer recorded for %s", record->path, question->task)
                            : rc;
}

static int fail_missing(const struct chat_record *record, const struct chat_question *question, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer begin = {0};
    wt__plain_line(&begin, question->text, SHOWN_BYTES);
    return wt__fail(err, WT_ENOTFOUND, "%s has no answer of %s to %s: \"%s\"", record->path, record->model.name,
                    question->task, begin.ptr ? begin.ptr : "");
}

/* Copies the entry of a key to *out. Returns false if there is no entry. The texts stay valid when entries are
 * added. */
static bool find_recorded(struct chat_record *record, const char *key, struct record_entry *out)
{
    pthread_mutex_lock(&record->lock);
    const struct record_entry *known = lookup_entry(record, key);
    if (known)
        *out = *known;
    pthread_mutex_unlock(&record->lock);
    return known != NULL;
}

/* Asks record->inner, and records the answer. *first: false if another thread has recorded an answer to the same
 * question in the meantime. */
static int ask_inner(struct chat_record *record, const char *key, const struct chat_question *question,
                     struct arena *arena, struct chat_answer *out, bool *first, wt_error *err)
{
    int asked = wt__chat_ask(record->inner, question, arena, out, err), rc = 0;
    *first = true;
    if (asked < 0 && (asked != WT_EFORMAT || out->attempts == 0)) /* 0 attempts: the question was invalid */
        return asked;
    struct record_entry entry = {
        .text = asked < 0 ? STR("") : out->text,
        .error = asked < 0 ? wt__str(err->message) : STR(""),
        .prompt_tokens = out->prompt_tokens,
        .completion_tokens = out->completion_tokens,
        .ms = out->ms,
        .attempts = out->attempts,
        .repaired = out->repaired,
    };
    pthread_mutex_lock(&record->lock);
    *first = !lookup_entry(record, key);
    if (*first)
        rc = add_answer(record, key, question, &entry, err);
    pthread_mutex_unlock(&record->lock);
    return rc < 0 ? rc : asked;
}

static int ask_record(struct chat_model *model, const struct chat_question *question, struct arena *arena,
                      struct chat_answer *out, wt_error *err)
{
    struct chat_record *record = (struct chat_record *)model;
    struct record_entry entry;
    wt_error scratch;
    char key[KEY_DIGITS + 1];
    bool first;
    err = err ? err : &scratch;
    int rc = wt__chat_record_key(model->name, question, key, err);
    if (rc < 0)
        return rc;
    if (find_recorded(record, key, &entry))
        return replay_entry(record, &entry, question, arena, out, err);
    if (!record->inner)
        return fail_missing(record, question, err);
    rc = ask_inner(record, key, question, arena, out, &first, err);
    if (rc == 0 && first)
        return 0;
    json_decref(out->json);
    out->json = NULL;
    return !first && find_recorded(record, key, &entry) ? replay_entry(record, &entry, question, arena, out, err) : rc;
}

/* ---------------------------------------------------------------- the record */

int wt__chat_record_open(struct chat_record **out, const char *path, const char *model_name, struct chat_model *inner,
                         wt_error *err)
{
    *out = NULL;
    const char *name = inner ? inner->name : model_name;
    if (!name || !name[0])
        return wt__fail(err, WT_EINVAL, "cannot replay %s without the name of a model", path);
    struct chat_record *record = calloc(1, sizeof *record);
    WT_CHECK_ALLOC(record, err);
    *record = (struct chat_record){
        .model = {.ask = ask_record, .at_once = inner ? inner->at_once : 0}, .inner = inner, .path = path, .fd = -1};
    pthread_mutex_init(&record->lock, NULL);
    record->model.name = wt__arena_copy(&record->arena, wt__str(name));
    int rc = record->model.name ? 0 : wt__fail_nomem(err);
    if (rc == 0 && inner) {
        record->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (record->fd < 0)
            rc = wt__fail_errno(err, "open", path);
    }
    if (rc == 0)
        rc = read_record_file(record, err);
    if (rc < 0)
        wt__chat_record_close(record);
    else
        *out = record;
    return rc;
}

void wt__chat_record_close(struct chat_record *record)
{
    if (!record)
        return;
    if (record->fd >= 0 && record->relaxed)
        fdatasync(record->fd);
    if (record->fd >= 0)
        close(record->fd);
    wt__map_dispose(&record->map);
    wt__arena_dispose(&record->arena);
    free(record->entries);
    pthread_mutex_destroy(&record->lock);
    free(record);
}

void wt__chat_record_relax(struct chat_record *record)
{
    record->relaxed = true;
}

struct chat_model *wt__chat_record_model(struct chat_record *record)
{
    return &record->model;
}
