/* schema.h: the migrations of each database. */
#ifndef WT_STORE_SCHEMA_H
#define WT_STORE_SCHEMA_H

#include "store/driver.h"

enum { WT_STORE_VERSION = 10 }; /* newest version of the tables */

/* [WT_STORE_VERSION] steps of each database. Stores in PostgreSQL exist since version 9: the steps before have no SQL,
 * and step 8 creates all tables. */
extern const struct migration wt__sqlite_migrations[], wt__postgres_migrations[];

#endif
