/* dialect.c: matches "$schema" against the standard dialects and the supplied metaschemas. */
#include "schema/dialect.h"

#include "base/json.h"
#include "schema/metaschemas.h"
#include "schema/places.h"

enum { HOPS = 8 }; /* limit on the chain of metaschemas */

static unsigned read_vocabularies(const json_t *declared)
{
    static const struct {
        const char *uri;
        unsigned bit;
    } known[] = {
        {"https://json-schema.org/draft/2020-12/vocab/applicator", VOCABULARY_APPLICATOR},
        {"https://json-schema.org/draft/2020-12/vocab/unevaluated", VOCABULARY_UNEVALUATED},
        {"https://json-schema.org/draft/2020-12/vocab/validation", VOCABULARY_VALIDATION},
        {"https://json-schema.org/draft/2020-12/vocab/format-assertion", VOCABULARY_FORMAT_ASSERTION},
    };
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (json_object_get(declared, known[i].uri))
            bits |= known[i].bit;
    return bits;
}

/* Returns the URI of a required but unsupported vocabulary, or NULL if all are supported. */
static const char *find_foreign_vocabulary(const json_t *declared)
{
    static const char ours[] = "https://json-schema.org/draft/2020-12/vocab/";
    const char *uri;
    json_t *needed;
    json_object_foreach((json_t *)declared, uri, needed)
    {
        if (json_is_true(needed) && strncmp(uri, ours, sizeof ours - 1) != 0)
            return uri;
    }
    return NULL;
}

static struct str strip_hash(struct str uri)
{
    return uri.len > 0 && uri.ptr[uri.len - 1] == '#' ? (struct str){uri.ptr, uri.len - 1} : uri;
}

/* Follows the "$schema" of supplied metaschemas until one declares its vocabularies or is a standard dialect. */
int wt__dialect_read(struct resource *r, struct str uri, const char *usual, const json_t *table,
                     const struct subschema *at, wt_error *err)
{
    const char *given = uri.ptr;
    /* This URI means "the latest" and identifies no dialect. */
    if (wt__str_equal(strip_hash(uri), STR("http://json-schema.org/schema")))
        uri = wt__str(usual);
    for (int hop = 0; hop < HOPS; hop++) {
        uri = strip_hash(uri);
        r->draft7 = wt__str_equal(uri, STR(SCHEMA_DRAFT_07)) ||
                    wt__str_equal(uri, STR("https://json-schema.org/draft-07/schema"));
        r->vocabularies = VOCABULARY_ALL;
        if (r->draft7 || wt__str_equal(uri, STR(SCHEMA_2020_12)))
            return 0;
        struct buffer key = {0};
        wt__buffer_str(&key, uri);
        const json_t *metaschema = key.failed ? NULL : json_object_get(table, key.ptr);
        bool failed = key.failed;
        wt__buffer_dispose(&key);
        if (failed)
            return wt__fail_nomem(err);
        const json_t *declared = json_object_get(metaschema, "$vocabulary");
        const char *foreign = find_foreign_vocabulary(declared);
        if (foreign)
            return wt__subschema_refuse(at, WT_EFORMAT, err, "its dialect requires an unknown vocabulary: \"%.300s\"",
                                        foreign);
        if (declared) {
            r->vocabularies = read_vocabularies(declared);
            return 0;
        }
        uri = wt__json_str(metaschema, "$schema");
        if (uri.len == 0)
            break;
    }
    return wt__subschema_refuse(
        at, WT_EFORMAT, err,
        "\"$schema\" must name 2020-12, draft-07 or a metaschema passed with the schema: \"%.300s\"", given);
}
