/* credentials.h: detects arguments that are credentials. The calling program holds credentials. A language model cannot
 * know them and should not be asked for them. So stored schemas, the index and exports omit such arguments. The stored
 * definition still contains them, because it keeps the source's bytes. */
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
    /* True in the body of a service that declares its authentication. The argument is then data of the tool, such as
     * the key of another service, and not a credential, unless its description contains "requires scope". */
    bool data;
};

/* True if the argument is a credential by its name, or by an ambiguous name and its description. The subject of the
 * tool (revoke_token's token) and parts of a path are not credentials. */
bool wt__is_credential(const struct credential_argument *argument);

/* Removes the credentials from the arguments (an object) of a recorded call. schema is the stored schema of the tool,
 * or NULL if unknown. An argument in the schema is removed if wt__is_credential is true for its property. Any other
 * argument is removed if its name alone suggests a credential. */
void wt__drop_credentials(json_t *arguments, struct str tool, const json_t *schema);
/* True if wt__drop_credentials may remove an argument. The result depends on the names alone. */
bool wt__may_have_credentials(json_t *arguments);

/* Removes the credentials from the properties of schema (an object or NULL), and from "required". */
void wt__leave_out_credentials(json_t *schema, struct str tool);

#endif
