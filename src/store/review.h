/* review.h: definitions of MCP servers that wait for approval, in the same store as the catalogue.
 *
 * A server's listing is checked, imported and recorded in one transaction, so that unapproved definitions are never in
 * the catalogue. An approval applies to a hash (catalog/pins.h): the imported definition is the approved definition,
 * byte for byte.
 *
 * Invariant, from the server's first list of tools on: the catalogue has a tool of the server exactly if the definition
 * of the tool in the last list is approved.
 *
 * At most WT_MAX_WAITING definitions of one listing wait. Their total size is at most WT_MAX_WAITING_BYTES.
 *
 * A server's name is reserved as a provider from its first review, or from wt__store_reserve_provider on. Only
 * wt__store_review and wt__store_approve write the tools of a reserved provider. Every other import, removal and rename
 * refuses a reserved provider within its own transaction. wt__store_release_provider ends the reservation. */
#ifndef WT_STORE_REVIEW_H
#define WT_STORE_REVIEW_H

#include "catalog/pins.h"
#include "store/store.h"

enum review_verdict {
    REVIEW_APPROVED,
    REVIEW_NEW,     /* waits; no definition of that name was approved before */
    REVIEW_CHANGED, /* waits; another definition of that name was approved */
    REVIEW_BEYOND   /* over the limits, and not stored */
};

/* One listed definition, or a server's instructions, which are a tool without a name. Views.
 *
 * tool: the tool to import if it is approved. For other kinds only the name is set: a prompt's name, a URI, or a URI
 * template. */
struct review_item {
    enum review_kind kind;
    struct tool tool;
    struct str offered; /* definition in the listing */
    char sha256[DEFINITION_DIGITS + 1];
    bool locked; /* the lock file contains sha256 */
    enum review_verdict verdict;
};

/* False for prompts, resources and instructions. */
bool wt__review_is_tool(const struct review_item *item);

struct review_listing {
    struct str provider, source;
    struct review_item *items; /* [count] with different kinds or names */
    size_t count;
    bool told[REVIEW_KINDS];   /* [kind] the items are complete for this kind */
    bool instructions;         /* the listing covers the instructions: without their item, the server has none */
    bool trust_first;          /* see wt_review_options */
    bool lock;                 /* only locked definitions are approved */
    int64_t now;               /* seconds since 1970 */
    struct progress *progress; /* may be NULL */
};

struct review_changes {
    int64_t *ids; /* [tool_count] approved tools in the catalogue; the caller frees the array */
    size_t tool_count;
    size_t returned; /* number of tools whose changed definition is the approved definition again */
    struct store_changes catalogue;
};

/* Checks, imports and records a listing. Sets the verdicts of the items. On a replica, only checks the listing against
 * the approvals of the writer. */
int wt__store_review(struct store *store, const struct review_listing *listing, struct review_changes *out,
                     wt_error *err);

/* Approves waiting definitions with these names and hashes, and imports them: all or nothing. Errors: WT_ENOTFOUND (no
 * definition of that name waits), WT_EINVAL (another definition waits). */
int wt__store_approve(struct store *store, const struct review_listing *listing, struct review_changes *out,
                      wt_error *err);

/* Reserves the provider's name for the server of that name. Drops former names that would lead from or to the provider.
 * Does nothing if the name is reserved. */
int wt__store_reserve_provider(struct store *store, struct str provider, wt_error *err);
/* Ends the reservation, and removes the server's tools and approvals. Returns the number of tools removed. */
int64_t wt__store_release_provider(struct store *store, struct str provider, wt_error *err);

/* Lists the server's tools in the catalogue that are in its last listing with the approved bytes, by ascending id. *ids
 * is in the arena. */
int wt__store_approved_tools(struct store *store, struct str provider, struct arena *arena, int64_t **ids,
                             size_t *count, wt_error *err);

/* A stored definition. Absent texts are empty, and absent hashes "". */
struct review_row {
    enum review_kind kind;
    struct str provider, source, name;
    struct str approved, offered; /* approved definition; definition that waits */
    char approved_sha256[DEFINITION_DIGITS + 1], offered_sha256[DEFINITION_DIGITS + 1];
    int64_t approved_since, offered_since; /* seconds since 1970; 0 if not approved, or if no definition waits */
    bool listed;                           /* in the server's last listing, within its limits */
};

enum review_rows { REVIEWS_WAITING, REVIEWS_APPROVED, REVIEWS_INSTRUCTIONS };
/* Reads the waiting or approved definitions, or the approved instructions, of one server, or of all servers if provider
 * is NULL. The rows are in the arena, ordered by server, kind and name. Returns 0 if no server has the name `provider`,
 * else 1. */
int wt__store_reviews(struct store *store, enum review_rows which, const struct str *provider, struct arena *arena,
                      struct review_row **out, size_t *count, wt_error *err);

/* Lists the tools that were approved in the last WT_NEW_TOOL_DAYS days and that no later usage has used, in the arena.
 * Tools of a provider's first listing are left out. */
struct stored_new_tool {
    int64_t tool;  /* id of the tool */
    int64_t since; /* time of the approval, in seconds since 1970 */
};
int wt__store_new_tools(struct store *store, struct arena *arena, struct stored_new_tool **out, size_t *count,
                        wt_error *err);

#endif
