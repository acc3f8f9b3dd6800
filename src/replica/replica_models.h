/* replica_models.h: the trained models of a replica: a folder per published set, and a link to the current one. */
#ifndef WT_REPLICA_REPLICA_MODELS_H
#define WT_REPLICA_REPLICA_MODELS_H

#include "replica/incoming.h"

#define REPLICA_STORE "store.wt"
#define REPLICA_MODELS "store.wt-models" /* derived from the store's name by the engine */

/* Writes CACHE/models-HASH with the models of the publication, unless it exists. Copies unchanged files from the
 * current folder. hash: wt__publication_models_hash; does nothing for "". */
int wt__replica_models_write(const char *cache, const struct incoming_folder *incoming,
                             const struct publication *publication, const char *hash, wt_error *err);

/* Makes the folder of this hash the current one, and removes the other folders; "" for no trained models. */
int wt__replica_models_select(const char *cache, const char *hash, wt_error *err);

#endif
