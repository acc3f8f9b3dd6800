/* beir.c: corpus.jsonl of a data set in BEIR layout: _id, title (the tool's name), text (its description), and metadata
 * with provider, category and parameters in any shape. Unreadable parameters are dropped: the tools of a data set are
 * all needed, and its metadata is not a contract. */
#include "base/json.h"
#include "import/reader.h"
#include "catalog/schema.h"

static bool detect_beir(const struct peek *peek)
{
    return peek->lines && (peek->keys & PEEK_ID) && (peek->keys & PEEK_TEXT);
}

static int read_beir_row(struct import_reader *reader, const struct json_item *item, wt_error *err)
{
    json_t *row;
    struct draft draft = {.definition = item->value, .place = {item->byte, item->line}};
    int rc = wt__reader_parse(reader, item, &row, err);
    if (rc <= 0)
        return rc;
    rc = wt__reader_text(reader, draft.place, row, "_id", &draft.source_id, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft.place, row, "title", &draft.name, err);
    if (rc > 0)
        rc = wt__reader_text(reader, draft.place, row, "text", &draft.description, err);
    if (rc > 0) {
        const json_t *metadata = wt__json_object(row, "metadata");
        draft.provider = wt__json_str(metadata, "provider");
        draft.category = wt__json_str(metadata, "category");
        rc = wt__schema_from_parameters(&draft.schema, json_object_get(metadata, "parameters"));
        rc = rc < 0 ? wt__fail_nomem(err) : wt__reader_add(reader, &draft, err);
    }
    json_decref(draft.schema);
    json_decref(row);
    return rc < 0 ? rc : 0;
}

static int read_beir(struct import_reader *reader, struct str bytes, wt_error *err)
{
    return wt__walk_lines(reader, bytes, read_beir_row, err);
}

const struct importer wt__import_beir = {"beir", detect_beir, read_beir};
