/* older.h: SQL that downgrades a store from the current version to version 8. */
#ifndef WT_TESTS_STORE_OLDER_H
#define WT_TESTS_STORE_OLDER_H

#define BACK_TO_VERSION_8                                                                                              \
    "DROP TABLE usage_segment; DROP TABLE replica;"                                                                    \
    "DROP INDEX review_name; ALTER TABLE review DROP COLUMN kind;"                                                     \
    "CREATE UNIQUE INDEX review_name ON review (server, name);"                                                        \
    "ALTER TABLE review_server DROP COLUMN baseline;"                                                                  \
    "DROP INDEX client_last; ALTER TABLE client DROP COLUMN last;"                                                     \
    "DROP INDEX usage_hash; ALTER TABLE usage DROP COLUMN hash;"                                                       \
    "DROP INDEX usage_tool_label; ALTER TABLE usage_tool DROP COLUMN client;"                                          \
    "CREATE INDEX usage_tool_label ON usage_tool (label);"                                                             \
    "DROP INDEX usage_request; CREATE INDEX usage_request ON usage (request);"                                         \
    "DROP INDEX usage_client; CREATE INDEX usage_client ON usage (client, request) WHERE client IS NOT NULL;"          \
    "PRAGMA user_version=8;"

#endif
