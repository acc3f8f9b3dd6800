/* schema.c: the tables, and the migrations of stores of older versions.
 *
 * The version of a store is the number of applied steps. A released step is never edited: new steps are added at the
 * end of both lists. Notes on the tables and some of their columns:
 *
 * tool:
 *   source      source that last imported the tool; sync selects tools by source
 *   generation  generation of the store when the row last changed
 *   export_name exported name (catalog/names.h)
 * provider_alias: former names of a provider, which its sources may still use.
 * vector: a rowid table with an index. A vector can fill half a page, which is too much for a table clustered by its
 * key.
 * request: byte-equal requests are one row. hash is a hash of the words, so all spellings of a request share it.
 * label: the name of a tool in a usage, with a link to the tool, because a usage outlives the tool.
 * usage_tool:
 *   arguments   arguments of the call; NULL if not reported. Search does not use them
 *   client      copy of usage.client, so that the index lists the clients of a label
 * contrast: a cache of a language model's questions, each of which distinguishes two definitions.
 * client: reporters of usages. last is the id of the client's newest usage, even if this usage was removed.
 * usage: AUTOINCREMENT, so that an id below a mark (usage_encoding.last) is never reused.
 *   hash        copy of request.hash, so that the index lists the clients of a request in all its spellings
 *   key         key from the client, unique among the client's usages; NULL if not reported
 * review_server: an MCP server whose definitions are approved one by one. The provider of that name is reserved:
 * other imports, removals and renames refuse it.
 *   baseline        bit set of the kinds that the server has listed before
 * review: approved and waiting definitions of a server (store/review.h).
 *   kind            enum review_kind
 *   name            name of the tool or prompt, URI, or URI template; '' for the server's instructions
 *   listed          1 if the definition is in the server's last listing
 *   tool            id of the tool in the catalogue; NULL if absent
 *   approved_after  id of the newest usage at the approval; NULL if not tracked. The tool is new until a later usage
 *                   calls it
 *   offered         waiting definition; NULL if the row has no waiting definition
 * usage_sum: while a sum is stale, uses is -1 and data is empty.
 * replica: the state of a replica (store/rows.h); empty in other stores.
 * usage_segment: segments of usages from replicas that were applied, with the time in seconds since 1970. */
#include "store/schema.h"

#include "store/internal.h"

const struct migration wt__sqlite_migrations[WT_STORE_VERSION] = {
    {"CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
     "INSERT INTO meta VALUES ('generation', 1);"

     "CREATE TABLE provider (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE) STRICT;"
     "CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"

     "CREATE TABLE tool ( id INTEGER PRIMARY KEY AUTOINCREMENT, provider INTEGER NOT NULL REFERENCES provider (id),"
     " state INTEGER NOT NULL DEFAULT 0 CHECK (state IN (0, 1, 2)), source INTEGER NOT NULL REFERENCES source (id),"
     " generation INTEGER NOT NULL, id_hash INTEGER NOT NULL, sha256 BLOB NOT NULL CHECK (length(sha256) = 32),"
     " name TEXT NOT NULL, source_id TEXT NOT NULL, format TEXT NOT NULL, category TEXT NOT NULL,"
     " title TEXT NOT NULL, description TEXT NOT NULL, schema TEXT NOT NULL, definition BLOB NOT NULL) STRICT;"
     "CREATE UNIQUE INDEX tool_name ON tool (name, provider);"
     "CREATE INDEX tool_provider ON tool (provider, state);"
     "CREATE INDEX tool_source ON tool (source);"
     "CREATE INDEX tool_source_id ON tool (source_id) WHERE source_id <> '';"
     "CREATE INDEX tool_id_hash ON tool (id_hash);"
     "CREATE INDEX tool_key ON tool (state, id, generation, provider);"

     "CREATE TABLE model ( id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
     " dim INTEGER NOT NULL CHECK (dim > 0)) STRICT;"
     "CREATE TABLE vector ( tool INTEGER NOT NULL REFERENCES tool (id) ON DELETE CASCADE, kind TEXT NOT NULL,"
     " model INTEGER NOT NULL REFERENCES model (id), data BLOB NOT NULL) STRICT;"
     "CREATE UNIQUE INDEX vector_tool ON vector (tool, kind, model);"

     "CREATE TABLE usage ( id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, outcome TEXT NOT NULL,"
     " created INTEGER NOT NULL) STRICT;" /* seconds since 1970, UTC */
     "CREATE TABLE usage_tool ( usage INTEGER NOT NULL REFERENCES usage (id) ON DELETE CASCADE,"
     " position INTEGER NOT NULL, provider TEXT NOT NULL, name TEXT NOT NULL,"
     " tool INTEGER REFERENCES tool (id) ON DELETE SET NULL, PRIMARY KEY (usage, position)) STRICT, WITHOUT ROWID;"
     "CREATE INDEX usage_tool_tool ON usage_tool (tool) WHERE tool IS NOT NULL;",
     NULL},

    {"ALTER TABLE usage_tool RENAME TO usage_tool_1;"
     "ALTER TABLE usage RENAME TO usage_1;"

     "CREATE TABLE request ( id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, text TEXT NOT NULL) STRICT;"
     "CREATE INDEX request_hash ON request (hash);"
     "CREATE TABLE label ( id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
     " tool INTEGER REFERENCES tool (id) ON DELETE SET NULL) STRICT;"
     "CREATE INDEX label_name ON label (name);"
     "CREATE INDEX label_tool ON label (tool) WHERE tool IS NOT NULL;"
     "CREATE TABLE usage ( id INTEGER PRIMARY KEY AUTOINCREMENT, request INTEGER NOT NULL REFERENCES request (id),"
     " outcome INTEGER NOT NULL CHECK (outcome IN (0, 1, 2))," /* unknown, ok, failed */
     " created INTEGER NOT NULL) STRICT;"                      /* seconds since 1970, UTC */
     "CREATE INDEX usage_request ON usage (request);"
     "CREATE TABLE usage_tool ( usage INTEGER NOT NULL REFERENCES usage (id) ON DELETE CASCADE,"
     " position INTEGER NOT NULL, label INTEGER NOT NULL REFERENCES label (id),"
     " PRIMARY KEY (usage, position)) STRICT, WITHOUT ROWID;"
     "CREATE INDEX usage_tool_label ON usage_tool (label);"

     "INSERT INTO request SELECT id, 0, request FROM usage_1;"
     "INSERT INTO usage SELECT id, id, CASE outcome WHEN 'ok' THEN 1 WHEN 'failed' THEN 2 ELSE 0 END, created"
     " FROM usage_1;"
     "INSERT INTO label (name, tool) SELECT DISTINCT iif(provider = '', name, provider || '/' || name), tool"
     " FROM usage_tool_1;"
     "INSERT INTO usage_tool SELECT usage, position, label.id FROM usage_tool_1 JOIN label ON label.tool IS"
     " usage_tool_1.tool AND label.name = iif(provider = '', usage_tool_1.name, provider || '/' || usage_tool_1.name);"
     "DROP TABLE usage_tool_1;"
     "DROP TABLE usage_1;"

     "CREATE TABLE usage_encoding ( id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
     " model INTEGER NOT NULL REFERENCES model (id),"
     " last INTEGER NOT NULL," /* last usage in the sums */
     " UNIQUE (kind, model)) STRICT;"
     "CREATE TABLE usage_sum ( tool INTEGER NOT NULL REFERENCES tool (id) ON DELETE CASCADE,"
     " encoding INTEGER NOT NULL REFERENCES usage_encoding (id), generation INTEGER NOT NULL,"
     " uses INTEGER NOT NULL, data BLOB NOT NULL) STRICT;"
     "CREATE UNIQUE INDEX usage_sum_tool ON usage_sum (tool, encoding);"
     "CREATE INDEX usage_sum_key ON usage_sum (encoding, tool, uses, generation);"
     "CREATE INDEX usage_sum_stale ON usage_sum (encoding, tool) WHERE uses < 0;"

     "INSERT INTO meta VALUES ('usage_generation', 1), ('sums_generation', 1);"
     "INSERT INTO meta SELECT 'usages', count(*) FROM usage;",
     NULL},

    {"CREATE TABLE client ( id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
     "ALTER TABLE usage ADD COLUMN client INTEGER REFERENCES client (id);" /* NULL if not reported */
     "CREATE INDEX usage_client ON usage (client, request) WHERE client IS NOT NULL;",
     NULL},

    {"DROP INDEX tool_provider;" /* tools have one state */
     "DROP INDEX tool_key;"
     "ALTER TABLE tool DROP COLUMN state;"
     "CREATE INDEX tool_provider ON tool (provider);"
     "CREATE INDEX tool_key ON tool (id, generation, provider);",
     NULL},

    {"DROP INDEX tool_id_hash;"
     "ALTER TABLE tool DROP COLUMN id_hash;"
     "ALTER TABLE tool ADD COLUMN export_name TEXT;" /* NULL only within a transaction */
     "CREATE UNIQUE INDEX tool_export_name ON tool (export_name);"
     "CREATE TABLE provider_alias ( name TEXT PRIMARY KEY,"
     " provider INTEGER NOT NULL REFERENCES provider (id) ON DELETE CASCADE) STRICT, WITHOUT ROWID;"
     "CREATE INDEX provider_alias_provider ON provider_alias (provider);",
     wt__names_fill},

    {"ALTER TABLE usage_tool ADD COLUMN arguments TEXT;"
     "CREATE TABLE contrast ("
     " definitions TEXT NOT NULL," /* SHA-256 of both definitions */
     " model TEXT NOT NULL, task TEXT NOT NULL, question TEXT NOT NULL,"
     " PRIMARY KEY (definitions, model, task)) STRICT, WITHOUT ROWID;",
     NULL},

    {"ALTER TABLE usage ADD COLUMN key TEXT;" /* NULL if not reported */
     "CREATE UNIQUE INDEX usage_key ON usage (key, coalesce(client, 0)) WHERE key IS NOT NULL;",
     NULL},

    {"CREATE TABLE review_server ( id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, source TEXT NOT NULL) STRICT;"
     "CREATE TABLE review ( id INTEGER PRIMARY KEY,"
     " server INTEGER NOT NULL REFERENCES review_server (id) ON DELETE CASCADE, name TEXT NOT NULL,"
     " listed INTEGER NOT NULL CHECK (listed IN (0, 1)), tool INTEGER REFERENCES tool (id) ON DELETE SET NULL,"
     " approved_since INTEGER," /* seconds since 1970, UTC */
     " approved_after INTEGER, offered_since INTEGER, approved_sha256 TEXT CHECK (length(approved_sha256) = 64),"
     " offered_sha256 TEXT CHECK (length(offered_sha256) = 64), approved BLOB, offered BLOB,"
     " CHECK ((approved IS NULL) = (approved_sha256 IS NULL)),"
     " CHECK ((offered IS NULL) = (offered_sha256 IS NULL))) STRICT;"
     "CREATE UNIQUE INDEX review_name ON review (server, name);"
     "CREATE INDEX review_tool ON review (tool) WHERE tool IS NOT NULL;"
     "CREATE INDEX review_new ON review (approved_since) WHERE approved_after IS NOT NULL;",
     NULL},

    /* Every server that an earlier version stored has listed its tools. */
    {"ALTER TABLE review_server ADD COLUMN baseline INTEGER NOT NULL DEFAULT 0;"
     "UPDATE review_server SET baseline = 1;"
     "ALTER TABLE review ADD COLUMN kind INTEGER NOT NULL DEFAULT 0 CHECK (kind IN (0, 1, 2, 3));"
     "DROP INDEX review_name;"
     "CREATE UNIQUE INDEX review_name ON review (server, kind, name);"
     "DELETE FROM provider_alias WHERE name IN (SELECT name FROM review_server)"
     " OR provider IN (SELECT p.id FROM review_server s CROSS JOIN provider p ON p.name = s.name);"
     "ALTER TABLE usage ADD COLUMN hash INTEGER NOT NULL DEFAULT 0;"
     "ALTER TABLE usage_tool ADD COLUMN client INTEGER;"
     "ALTER TABLE client ADD COLUMN last INTEGER NOT NULL DEFAULT 0;"
     "UPDATE usage_tool SET client = (SELECT client FROM usage WHERE id = usage_tool.usage);"
     "UPDATE client SET last = (SELECT coalesce(max(id), 0) FROM usage WHERE client = client.id);"
     "DROP INDEX usage_client;"
     "DROP INDEX usage_request;"
     "DROP INDEX usage_tool_label;"
     "CREATE INDEX usage_client ON usage (client, request);"
     "CREATE INDEX usage_request ON usage (request, client);"
     "CREATE INDEX usage_tool_label ON usage_tool (label, client);"
     "CREATE INDEX client_last ON client (last);",
     wt__usage_fill_hashes},

    {"CREATE TABLE replica ( one INTEGER PRIMARY KEY CHECK (one = 1), publication TEXT NOT NULL, writer TEXT NOT NULL,"
     " encoder TEXT NOT NULL, encoder_name TEXT NOT NULL, models TEXT NOT NULL, segment INTEGER NOT NULL,"
     " position INTEGER NOT NULL, digest BLOB NOT NULL, generation INTEGER NOT NULL) STRICT;"
     "CREATE TABLE usage_segment ( id TEXT PRIMARY KEY, applied INTEGER NOT NULL) STRICT, WITHOUT ROWID;",
     NULL},
};
