/* credentials.h: which arguments are credentials. The program that calls a tool holds them; a language model cannot
 * know them and should not see them asked for. Stored schemas are without them, and so is all that is made of these:
 * the index, exports. The definition keeps the source's bytes. */
#ifndef WT_CATALOG_CREDENTIALS_H
#define WT_CATALOG_CREDENTIALS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"

struct argument {
    struct str tool;  /* the tool's name */
    struct str place; /* as OpenAPI says where it is sent: "query", "header", "cookie", "path", "body"; "": unknown */
    struct str name;
    const json_t *schema; /* in any dialect; NULL: says nothing */
    bool data;            /* of the body of a service that declares how it is authenticated: what is called so there is
                           * data, like the key of another service, unless its description names the scope it needs */
};

/* Whether it is a credential by its name, or by a name that is often one and a description that says so. An argument
 * that the tool is about is none (revoke_token's token), and what is part of a path is none. */
bool wt__is_credential(const struct argument *argument);

/* Takes the credentials out of the arguments (an object) of a call that is recorded: members that are credentials by
 * the tool's schema, and of those that it has no property for, since it is stored without them or says nothing, all
 * that would be one in a header. schema: as it is stored; NULL: not known. */
void wt__drop_credentials(json_t *arguments, struct str tool, const json_t *schema);
/* Whether that may take anything out of them, whatever the schema says. */
bool wt__may_have_credentials(json_t *arguments);

/* Takes the credentials out of the properties of schema (an object or NULL), and out of what is required. */
void wt__leave_out_credentials(json_t *schema, struct str tool);

#endif
