/* credentials.h: detects arguments that are credentials. The calling program holds them; a language model cannot know
 * them and should not be asked for them. Stored schemas omit them, and so do the index and exports. The definition
 * keeps the source's bytes. */
#ifndef WT_CATALOG_CREDENTIALS_H
#define WT_CATALOG_CREDENTIALS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

struct credential_argument {
    struct str tool;  /* name of the tool */
    struct str place; /* OpenAPI's "in": "query", "header", "cookie", "path", "body"; "" if unknown */
    struct str name;
    const json_t *schema; /* in any dialect; NULL if unknown */
    bool data;            /* true in the body of a service that declares its authentication; an argument with a
                           * credential-like name is then data, such as the key of another service, unless its
                           * description contains "requires scope" */
};

/* True if the argument is a credential by its name, or by an ambiguous name and its description. The subject of the
 * tool (revoke_token's token) and parts of a path are not credentials. */
bool wt__is_credential(const struct credential_argument *argument);

/* Removes the credentials from the arguments (an object) of a recorded call. A member in the tool's schema is judged by
 * that schema. Any other member is removed if its name would be a credential in a header. schema is the stored one, or
 * NULL if unknown. */
void wt__drop_credentials(json_t *arguments, struct str tool, const json_t *schema);
/* True if wt__drop_credentials may remove a member, for some schema. */
bool wt__may_have_credentials(json_t *arguments);

/* Removes the credentials from the properties of schema (an object or NULL), and from "required". */
void wt__leave_out_credentials(json_t *schema, struct str tool);

#endif
