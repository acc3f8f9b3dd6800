/* review.h: definitions that wait until somebody approves of them, beside the catalogue, in the same store.
 *
 * A server's listing is judged, imported and noted in one transaction, so that what is not approved is in the catalogue
 * at no moment. Approvals are of hashes (definition_hash.h): the definition that is imported is the one that was
 * approved, byte for byte.
 *
 * Invariants: of a server's tools the catalogue has those that its last listing has and that are approved, and no
 * others; of what is offered at most WT_MAX_WAITING definitions and WT_MAX_WAITING_BYTES are kept.
 *
 * A server's name is reserved as a provider, from its first review or from wt__store_reserve_provider on. Only
 * wt__store_review and wt__store_approve write the tools of a reserved provider; every other import, removal and rename
 * refuses it within its own transaction. wt__store_release_provider ends the reservation. */
#ifndef WT_STORE_REVIEW_H
#define WT_STORE_REVIEW_H

#include "catalog/definition_hash.h"
#include "store/store.h"

enum review_verdict {
    REVIEW_APPROVED,
    REVIEW_NEW,     /* waits, and nothing of that name was ever approved */
    REVIEW_CHANGED, /* waits, and something else was */
    REVIEW_BEYOND   /* beyond the limits: it does not even wait */
};

/* One definition on its way, or a server's instructions, which are a tool without a name. Views. */
struct review_item {
    enum review_kind kind;
    struct tool tool;   /* as it is imported once it is approved: of the bytes that were approved. Of other kinds the
                           name alone is set: a prompt's name, a URI, a URI template */
    struct str offered; /* as it is listed */
    char sha256[DEFINITION_DIGITS + 1];
    bool locked; /* the lock has it by this hash */
    enum review_verdict verdict;
};

struct review_listing {
    struct str provider, source;
    struct review_item *items; /* [count] with different kinds or names */
    size_t count;
    bool told[REVIEW_KINDS]; /* the items are all that the server has of this kind */
    bool instructions;       /* they were told: one of the items, or none */
    bool trust_first;        /* as in wt_review_options */
    bool lock;               /* what is not locked waits */
    int64_t now;             /* seconds since 1970 */
    struct progress *progress;
};

struct review_changes {
    int64_t *ids; /* [tool_count] tools that are approved, in the catalogue; the caller frees them */
    size_t tool_count;
    size_t returned; /* tools that had changed and are what was approved again */
    struct store_changes catalogue;
};

/* Judges, imports and notes a listing: verdicts are in the items. */
int wt__store_review(struct store *store, const struct review_listing *listing, struct review_changes *out,
                     wt_error *err);

/* Approves of what waits by these names with these hashes, and imports it: all or nothing. Errors: WT_ENOTFOUND
 * (nothing of that name waits), WT_EINVAL (something else does). */
int wt__store_approve(struct store *store, const struct review_listing *listing, struct review_changes *out,
                      wt_error *err);

/* Reserves the provider's name for the server of that name. Sources whose provider was once called so, or was renamed
 * to that, are separate from it from now on. Does nothing if the name is reserved. */
int wt__store_reserve_provider(struct store *store, struct str provider, wt_error *err);
/* Ends the reservation, and forgets the server's tools and approvals. Returns how many tools there were. */
int64_t wt__store_release_provider(struct store *store, struct str provider, wt_error *err);

/* Ids of the server's tools in the catalogue that its last listing has and whose bytes are those that were approved,
 * in order. *ids in the arena. */
int wt__store_approved_tools(struct store *store, struct str provider, struct arena *arena, int64_t **ids,
                             size_t *count, wt_error *err);

/* What is known of a definition. Texts are empty, and hashes "", where there is none. */
struct review_row {
    enum review_kind kind;
    struct str provider, source, name;
    struct str approved, offered;
    char approved_sha256[DEFINITION_DIGITS + 1], offered_sha256[DEFINITION_DIGITS + 1];
    int64_t approved_since, offered_since;
    bool listed;
};

/* Of all that waits, of all that is approved, or of approved instructions alone, of one server or (NULL) of all: by
 * server, kind and name, in the arena. Returns whether there is such a server. */
enum review_rows { REVIEWS_WAITING, REVIEWS_APPROVED, REVIEWS_INSTRUCTIONS };
int wt__store_reviews(struct store *store, enum review_rows which, const struct str *provider, struct arena *arena,
                      struct review_row **out, size_t *count, wt_error *err);

/* Tools of the catalogue that were approved in the last WT_NEW_TOOL_DAYS, but in what a provider listed first, and that
 * no usage recorded since has used. In the arena. */
struct stored_new_tool {
    int64_t tool;
    int64_t since;
};
int wt__store_new_tools(struct store *store, struct arena *arena, struct stored_new_tool **out, size_t *count,
                        wt_error *err);

#endif
