/* follow.c: the steps of a replica for one publication:
 *
 *   manifest (if changed) -> check -> fetch the missing bytes -> one transaction: apply, digest, references, state
 *   -> select the models -> build the index while searches use the old one -> swap
 *
 * A digest is compared before the transaction commits. After a kill at any point, the cache has one complete
 * generation; the models are selected again at the next start. */
#include "replica/follow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "replica/replica_models.h"
#include "replica/row_file.h"

enum { START_POLL_MS = 50 };

struct follower {
    struct follow_options options;
    char *location, *cache, *store_path, *policy_path, *lock_path, *incoming_path;
    struct publication_source *source;
    int lock;                   /* -1 while another process follows */
    struct store *store;        /* connection that applies rows; NULL without the lock */
    struct replica_state state; /* state of the store; read again after a failure */
    char manifest[65];          /* digest of the last applied manifest; "" before */
    char failed[65];            /* digest of the last refused manifest; "" before */
    unsigned failures;          /* number of its failures */
    double retry_ms;            /* time of the next attempt */
    struct progress progress;   /* ends fetches when the follower is closed */
    wt_engine *engine;          /* NULL before wt__follower_start */
    pthread_t thread;
    bool has_thread;
    atomic_bool closing;
    pthread_mutex_t mutex; /* guards the fields below */
    pthread_cond_t wake;
    struct follower_info info;
    double checked_at_ms; /* 0 before the first check */
};

/* ---------------------------------------------------------------- planning */

/* Missing parts of a publication. */
struct reading_plan {
    bool whole; /* read the base, and replace all rows */
    struct incoming_part *parts;
    size_t count;
};

static void digest_text(const struct sha256 *digest, char hex[65])
{
    struct sha256 copy = *digest;
    unsigned char bytes[32];
    wt__sha256_end(&copy, bytes);
    wt__sha256_hex(bytes, hex);
}

/* True if the rows of the replica are those of the base. */
static bool is_at_base(const struct replica_state *state, const struct publication *publication)
{
    char hex[65];
    digest_text(&state->digest, hex);
    return state->segment == publication->base.segment && state->position == publication->base_end &&
           strcmp(hex, publication->base_end_sha256) == 0;
}

static void add_incoming_part(struct reading_plan *plan, const struct published_file *file, uint64_t from)
{
    plan->parts[plan->count++] = (struct incoming_part){file, from, NULL};
}

/* Plans to read the changes from the position of the state. Returns 1, or 0 if the base must be read, or an error if
 * the publication is older than the replica. */
static int plan_changes(struct reading_plan *plan, const struct replica_state *state,
                        const struct publication *publication, wt_error *err)
{
    size_t count = publication->change_count;
    const struct published_file *changes = publication->changes;
    uint64_t segment = state->segment, from = state->position;
    uint64_t last = count > 0 ? changes[count - 1].segment : publication->base.segment;
    if (strcmp(state->publication, publication->id) != 0)
        return 0;
    if (is_at_base(state, publication)) {
        segment++;
        from = 0;
    }
    bool is_older = segment > last ? segment > last + 1 || from > 0
                                   : count > 0 && segment == last && from > changes[count - 1].bytes;
    if (is_older)
        return wt__fail(err, WT_EFORMAT, "it is older than the replica; the server may have sent a cached copy");
    if (segment > last)
        return 1;
    if (count == 0 || segment < changes[0].segment)
        return 0;
    for (size_t i = (size_t)(segment - changes[0].segment); i < count; i++, from = 0) {
        if (from > changes[i].bytes)
            return 0;
        add_incoming_part(plan, &changes[i], from);
    }
    return 1;
}

static int plan_reading(struct reading_plan *plan, const struct replica_state *state,
                        const struct publication *publication, struct arena *arena, wt_error *err)
{
    plan->parts = wt__arena_array(arena, struct incoming_part, publication->change_count + 1);
    WT_CHECK_ALLOC(plan->parts, err);
    int rc = plan_changes(plan, state, publication, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    plan->whole = true;
    add_incoming_part(plan, &publication->base, 0);
    for (size_t i = 0; i < publication->change_count; i++)
        if (publication->changes[i].segment > publication->base.segment)
            add_incoming_part(plan, &publication->changes[i], 0);
    return 0;
}

/* ---------------------------------------------------------------- applying */

/* Records arriving in pieces. */
struct row_applying {
    struct store *store;
    struct buffer kept; /* start of a record whose end has not arrived */
    wt_error *err;
};

static int apply_record(void *context, enum row_change change, unsigned table, struct str content)
{
    struct row_applying *applying = context;
    int rc = change == ROW_PUT ? wt__store_put_row(applying->store, table, content, applying->err)
                               : wt__store_delete_row(applying->store, table, content, applying->err);
    return rc < 0 ? rc : 0;
}

static int apply_piece(void *context, struct str bytes, wt_error *err)
{
    struct row_applying *applying = context;
    (void)err; /* the same as applying->err */
    wt__buffer_str(&applying->kept, bytes);
    WT_CHECK_ALLOC(!applying->kept.failed, applying->err);
    struct str all = wt__buffer_view(&applying->kept);
    size_t whole = wt__row_file_prefix(all);
    WT_TRY(wt__row_file_each((struct str){all.ptr, whole}, apply_record, applying, applying->err));
    if (whole > 0) /* else a long record is still growing */
        memmove(applying->kept.ptr, applying->kept.ptr + whole, all.len - whole);
    wt__buffer_cut(&applying->kept, all.len - whole);
    return 0;
}

/* Applies a part, and compares the digest of its file. Moves the state behind it. */
static int apply_part(struct store *store, const struct incoming_part *part, struct replica_state *state, wt_error *err)
{
    struct row_applying applying = {.store = store, .err = err};
    if (part->from == 0)
        wt__sha256_begin(&state->digest);
    int rc = wt__incoming_read(part, &state->digest, apply_piece, &applying, err);
    if (rc == 0 && applying.kept.len > 0)
        rc = wt__fail(err, WT_EFORMAT, "it ends within a record");
    wt__buffer_dispose(&applying.kept);
    if (rc < 0 && rc != WT_ENOMEM && rc != WT_EFULL)
        rc = wt__fail_context(err, WT_EFORMAT, "%s", part->file->name);
    int same = wt__incoming_check(part, &state->digest, rc < 0 ? NULL : err);
    state->segment = part->file->segment;
    state->position = part->file->bytes;
    return rc < 0 ? rc : same;
}

static int apply_plan(struct follower *f, const struct reading_plan *plan, const struct publication *publication,
                      struct replica_state *state, wt_error *err)
{
    int rc = 0;
    WT_TRY(wt__store_rows_begin(f->store, plan->whole, err));
    for (size_t i = 0; rc == 0 && i < plan->count; i++) {
        rc = apply_part(f->store, &plan->parts[i], state, err);
        if (rc == 0 && plan->whole && i == 0) { /* the changes after the base come next */
            state->segment = publication->base.segment + 1;
            state->position = 0;
            wt__sha256_begin(&state->digest);
        }
    }
    return wt__store_rows_end(f->store, rc, state, err);
}

/* ---------------------------------------------------------------- one publication */

/* Refuses a publication of other tables or of another encoder. */
static int check_publication(struct follower *f, const struct publication *publication, wt_error *err)
{
    int version = 0;
    const struct encoder *encoder = NULL;
    WT_TRY(wt__store_version(f->store, &version, err));
    if (publication->tables > (uint64_t)version)
        return wt__fail(err, WT_ENEWER, "it was published by whichtool %s, which is newer; update whichtool here",
                        publication->whichtool);
    if (publication->tables < (uint64_t)version)
        return wt__fail(err, WT_EFORMAT, "it was published by whichtool %s, which is older; update the publisher",
                        publication->whichtool);
    if (!f->engine || !*publication->encoder)
        return 0;
    int rc = wt__engine_encoder(f->engine, &encoder, err);
    if (rc == WT_ENOMEM)
        return rc;
    if (rc < 0 || strcmp(wt__encoder_hash(encoder), publication->encoder) != 0)
        return wt__fail(err, WT_EMODEL,
                        "its vectors are of the model %s, which this replica does not use; restart it "
                        "with --model %s",
                        publication->encoder_name, publication->encoder_name);
    return 0;
}

/* Writes the published policy into the cache. */
static int write_policy(struct follower *f, const struct incoming_folder *incoming,
                        const struct publication *publication, wt_error *err)
{
    WT_AUTO_FREE char *content = NULL, *now = NULL;
    size_t len = 0;
    if (!publication->policy.name) {
        unlink(f->policy_path);
        return 0;
    }
    WT_TRY(wt__incoming_load(incoming, &publication->policy, &content, err));
    if (wt__file_read(&now, &len, f->policy_path, (size_t)publication->policy.bytes, NULL) == 0 &&
        len == publication->policy.bytes && memcmp(now, content, len) == 0)
        return 0;
    return wt__file_replace(f->policy_path, content, (size_t)publication->policy.bytes, err);
}

/* Lets the engine build the index of the new generation. Its queries use the old index until then. */
static int update_engine(wt_engine *engine, wt_error *err)
{
    struct index_handle *index = NULL;
    bool anew = false;
    WT_TRY(wt__engine_reload_trained(engine, &anew, err));
    int rc = wt__engine_newest_index(engine, &index, err);
    wt__index_release(index);
    return rc == WT_EEMPTY ? 0 : rc;
}

/* Applies the fetched parts, and swaps to the new generation. */
static int swap_generation(struct follower *f, const struct reading_plan *plan, const struct publication *publication,
                           struct replica_state *next, wt_error *err)
{
    if (f->engine)
        wt__engine_begin_import(f->engine);
    int rc = apply_plan(f, plan, publication, next, err);
    if (rc == 0) {
        f->state = *next;
        rc = wt__replica_models_select(f->cache, next->models, err);
    }
    if (rc == 0 && f->engine)
        rc = update_engine(f->engine, err);
    if (f->engine)
        wt__engine_end_import(f->engine);
    return rc;
}

static int apply_publication(struct follower *f, const struct publication *publication, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct reading_plan plan = {.whole = false};
    const struct incoming_folder incoming = {f->source, f->incoming_path, &f->progress};
    struct replica_state next = f->state;
    WT_TRY(check_publication(f, publication, err));
    WT_TRY(plan_reading(&plan, &f->state, publication, &arena, err));
    WT_TRY(wt__make_folders(f->incoming_path, err));
    for (size_t i = 0; i < plan.count; i++)
        WT_TRY(wt__incoming_fetch(&incoming, &plan.parts[i], &arena, err));
    snprintf(next.publication, sizeof next.publication, "%s", publication->id);
    snprintf(next.writer, sizeof next.writer, "%s", publication->writer);
    snprintf(next.encoder, sizeof next.encoder, "%s", publication->encoder);
    snprintf(next.encoder_name, sizeof next.encoder_name, "%s", publication->encoder_name);
    next.generation = publication->generation;
    wt__publication_models_hash(publication, next.models);
    WT_TRY(wt__replica_models_write(f->cache, &incoming, publication, next.models, err));
    WT_TRY(write_policy(f, &incoming, publication, err));
    WT_TRY(swap_generation(f, &plan, publication, &next, err));
    wt__incoming_clear(&incoming);
    return 0;
}

/* ---------------------------------------------------------------- polling */

static void say_line(const struct follower *f, const char *line)
{
    if (f->options.say)
        f->options.say(f->options.say_context, line);
}

/* Notes the result of a poll. Errors are said once, until they change or end. */
static void note_poll(struct follower *f, int rc, bool applied, const wt_error *why)
{
    char line[sizeof why->message + 64];
    bool is_new = false, ended = false;
    pthread_mutex_lock(&f->mutex);
    struct follower_info *info = &f->info;
    if (rc < 0) {
        is_new = strcmp(info->error, why->message) != 0;
        snprintf(info->error, sizeof info->error, "%s", why->message);
        info->refused += is_new;
    } else {
        ended = info->error[0] != '\0';
        info->error[0] = '\0';
        info->applied += applied;
        f->checked_at_ms = wt__now_ms();
    }
    info->generation = f->state.generation;
    snprintf(info->writer, sizeof info->writer, "%s", f->state.writer);
    info->bytes = wt__source_bytes(f->source);
    info->follows = f->lock >= 0;
    pthread_mutex_unlock(&f->mutex);
    if (is_new)
        snprintf(line, sizeof line, "cannot follow; the replica stays at its generation: %s", why->message);
    if (is_new)
        say_line(f, line);
    else if (ended)
        say_line(f, "follows again");
}

/* Reads the manifest, and applies it if it is new. *applied: a publication was applied. */
static int poll_manifest(struct follower *f, bool *applied, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer text = {0};
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    struct publication publication;
    unsigned char bytes[32];
    char digest[65];
    int rc = wt__source_read_changed(f->source, PUBLICATION_MANIFEST, PUBLICATION_MANIFEST_BYTES_MAX, &text,
                                     &f->progress, err);
    if (rc <= 0)
        return rc;
    wt__sha256(text.ptr, text.len, bytes);
    wt__sha256_hex(bytes, digest);
    if (strcmp(digest, f->manifest) == 0)
        return 0;
    bool again = strcmp(digest, f->failed) == 0;
    if (!again)
        f->failures = 0;
    else if (wt__now_ms() < f->retry_ms) {
        wt__source_forget(f->source);
        return 1;
    }
    rc = wt__publication_read(&publication, &arena, wt__buffer_view(&text), err);
    if (rc == 0)
        rc = apply_publication(f, &publication, err);
    *applied = rc == 0;
    memcpy(rc == 0 ? f->manifest : f->failed, digest, sizeof digest);
    if (rc == 0)
        return 0;
    unsigned wait = f->options.poll_ms << (f->failures < 8 ? f->failures : 8);
    f->failures++;
    f->retry_ms = wt__now_ms() + (wait < FOLLOW_RETRY_MAX_MS ? wait : FOLLOW_RETRY_MAX_MS);
    wt__source_forget(f->source);
    return wt__fail_context(err, rc, "the publication at %s", f->location);
}

/* Takes the lock and opens the store, unless this process follows already. Fails with WT_EBUSY if another process
 * follows. A damaged store of the cache is removed, because it can be fetched again. */
static int take_lead(struct follower *f, wt_error *err)
{
    const struct store_options options = {.as_replica = true};
    if (f->lock >= 0)
        return 0;
    WT_TRY(wt__lock_file(&f->lock, f->lock_path, 0, err));
    int rc = wt__store_open(&f->store, f->store_path, &options, err);
    if (rc == WT_ESTORE) {
        WT_CLEANUP(wt__buffer_dispose) struct buffer journal = {0};
        wt__buffer_printf(&journal, "%s-journal", f->store_path);
        WT_CHECK_ALLOC(!journal.failed, err);
        unlink(f->store_path);
        unlink(journal.ptr);
        rc = wt__store_open(&f->store, f->store_path, &options, err);
    }
    if (rc == 0)
        rc = wt__replica_state_read(f->store, &f->state, err);
    if (rc > 0)
        rc = wt__replica_models_select(f->cache, f->state.models, err);
    if (rc < 0) {
        wt__store_close(f->store);
        f->store = NULL;
        wt__unlock_file(f->lock);
        f->lock = -1;
    }
    return rc;
}

static int poll_publication(struct follower *f, wt_error *err)
{
    bool applied = false;
    wt_error why = {0};
    int rc = take_lead(f, &why);
    if (rc == WT_EBUSY) {
        pthread_mutex_lock(&f->mutex);
        f->info.follows = false;
        pthread_mutex_unlock(&f->mutex);
        return wt__fail_same(err, &why);
    }
    if (rc == 0)
        rc = poll_manifest(f, &applied, &why);
    if (rc <= 0)
        note_poll(f, rc, applied, &why);
    return rc < 0 ? wt__fail_same(err, &why) : 0;
}

static void *run_follower(void *context)
{
    struct follower *f = context;
    while (!atomic_load(&f->closing)) {
        poll_publication(f, NULL);
        double until = wt__now_ms() + f->options.poll_ms;
        pthread_mutex_lock(&f->mutex);
        while (!atomic_load(&f->closing) && wt__steady_wait(&f->wake, &f->mutex, until))
            continue;
        pthread_mutex_unlock(&f->mutex);
    }
    return NULL;
}

/* ---------------------------------------------------------------- opening and closing */

static int stop_fetching(void *context, const char *phase, uint64_t done, uint64_t total)
{
    struct follower *f = context;
    (void)phase, (void)done, (void)total;
    return atomic_load(&f->closing) || wt__progress_step(f->options.progress, 0);
}

/* Names the cache folder of a publication below the user's cache folder. */
static int name_cache(struct buffer *out, const char *location, wt_error *err)
{
    WT_CLEANUP(wt__arena_dispose) struct arena arena = {0};
    unsigned char digest[32];
    char hex[65], *folder;
    WT_TRY(wt__cache_folder(&folder, &arena, err));
    wt__sha256(location, strlen(location), digest);
    wt__sha256_hex(digest, hex);
    wt__buffer_printf(out, "%s/replicas/%.16s", folder, hex);
    return 0;
}

static char *name_cache_file(const struct follower *f, const char *name)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer path = {0};
    wt__buffer_printf(&path, "%s/%s", f->cache, name);
    return path.failed ? NULL : wt__buffer_take(&path);
}

static int set_follower_paths(struct follower *f, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer cache = {0};
    if (f->options.cache)
        wt__buffer_text(&cache, f->options.cache);
    else
        WT_TRY(name_cache(&cache, f->options.location, err));
    f->location = wt__copy_string(f->options.location, strlen(f->options.location));
    f->cache = wt__buffer_take(&cache);
    WT_CHECK_ALLOC(f->location && f->cache, err);
    f->store_path = name_cache_file(f, REPLICA_STORE);
    f->policy_path = name_cache_file(f, "policy.json");
    f->lock_path = name_cache_file(f, "lock");
    f->incoming_path = name_cache_file(f, "incoming");
    WT_CHECK_ALLOC(f->store_path && f->policy_path && f->lock_path && f->incoming_path, err);
    return wt__make_folders(f->cache, err);
}

/* True if the store of the cache is a complete replica. */
static bool has_complete_store(struct follower *f)
{
    const struct store_options options = {.read_only = true};
    struct store *store = NULL;
    bool complete = wt__is_file(f->store_path) && wt__store_open(&store, f->store_path, &options, NULL) == 0 &&
                    wt__replica_state_read(store, &f->state, NULL) > 0;
    wt__store_close(store);
    return complete;
}

/* Fills an empty cache, or tries once to update it. */
static int fill_cache(struct follower *f, wt_error *err)
{
    wt_error why = {0};
    double until = wt__now_ms() + FOLLOW_START_WAIT_MS;
    int rc = poll_publication(f, &why);
    while (rc == WT_EBUSY && f->lock < 0 && !has_complete_store(f) && wt__now_ms() < until) {
        nanosleep(&(struct timespec){.tv_nsec = START_POLL_MS * 1000000L}, NULL);
        if (wt__progress_step(f->options.progress, 0))
            return wt__fail_cancelled(err);
        rc = poll_publication(f, &why);
    }
    if (rc == WT_ECANCELLED)
        return wt__fail_same(err, &why);
    bool complete = f->lock >= 0 ? f->state.publication[0] != '\0' : has_complete_store(f);
    return rc < 0 && !complete ? wt__fail_same(err, &why) : 0;
}

int wt__follower_open(struct follower **out, const struct follow_options *options, wt_error *err)
{
    *out = NULL;
    struct follower *f = wt__alloc_zeros(1, sizeof *f);
    WT_CHECK_ALLOC(f, err);
    f->options = *options;
    f->options.poll_ms = options->poll_ms ? options->poll_ms : FOLLOW_POLL_MS;
    f->lock = -1;
    f->info.checked_ms = -1;
    pthread_mutex_init(&f->mutex, NULL);
    wt__steady_open(&f->wake);
    wt__progress_init(&f->progress, stop_fetching, f);
    int rc = set_follower_paths(f, err);
    if (rc == 0)
        rc = wt__source_open(&f->source, options->location, options->token, err);
    if (rc == 0)
        rc = fill_cache(f, err);
    if (rc < 0)
        wt__follower_close(f);
    else
        *out = f;
    return rc;
}

int wt__follower_check_encoder(const struct follower *follower, wt_engine *engine, wt_error *err)
{
    const struct encoder *encoder = NULL;
    const struct replica_state *state = &follower->state;
    if (!*state->encoder)
        return 0;
    int rc = wt__engine_encoder(engine, &encoder, NULL);
    if (rc == 0 && strcmp(wt__encoder_hash(encoder), state->encoder) == 0)
        return 0;
    return wt__fail(
        err, WT_EMODEL,
        "the vectors of the publication at %s are of the model %s (%.12s), not of %s; get it with `whichtool "
        "model pull`, or name it with --model",
        follower->location, state->encoder_name, state->encoder, *engine->model_name ? engine->model_name : "no model");
}

int wt__follower_start(struct follower *follower, wt_engine *engine, wt_error *err)
{
    WT_TRY(wt__follower_check_encoder(follower, engine, err));
    follower->engine = engine;
    follower->has_thread = pthread_create(&follower->thread, NULL, run_follower, follower) == 0;
    return follower->has_thread ? 0 : wt__fail(err, WT_ENOMEM, "cannot start a thread to follow the publication");
}

void wt__follower_close(struct follower *follower)
{
    if (!follower)
        return;
    pthread_mutex_lock(&follower->mutex);
    atomic_store(&follower->closing, true);
    pthread_cond_broadcast(&follower->wake);
    pthread_mutex_unlock(&follower->mutex);
    if (follower->has_thread)
        pthread_join(follower->thread, NULL);
    wt__store_close(follower->store);
    wt__source_close(follower->source);
    if (follower->lock >= 0)
        wt__unlock_file(follower->lock);
    wt__progress_dispose(&follower->progress);
    pthread_cond_destroy(&follower->wake);
    pthread_mutex_destroy(&follower->mutex);
    free(follower->location);
    free(follower->cache);
    free(follower->store_path);
    free(follower->policy_path);
    free(follower->lock_path);
    free(follower->incoming_path);
    free(follower);
}

const char *wt__follower_store(const struct follower *follower)
{
    return follower->store_path;
}

const char *wt__follower_cache(const struct follower *follower)
{
    return follower->cache;
}

const char *wt__follower_policy(const struct follower *follower)
{
    return wt__is_file(follower->policy_path) ? follower->policy_path : NULL;
}

void wt__follower_info(struct follower *follower, struct follower_info *out)
{
    pthread_mutex_lock(&follower->mutex);
    *out = follower->info;
    out->checked_ms = follower->checked_at_ms > 0 ? wt__now_ms() - follower->checked_at_ms : -1;
    pthread_mutex_unlock(&follower->mutex);
}
