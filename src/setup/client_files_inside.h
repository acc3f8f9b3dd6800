/* client_files_inside.h: what moving servers there and back share. */
#ifndef WT_SETUP_CLIENT_FILES_INSIDE_H
#define WT_SETUP_CLIENT_FILES_INSIDE_H

#include "setup/client_files.h"

/* servers.json and init.json of the folder. */
int wt__client_own_files(const char *folder, struct arena *arena, const char **servers, const char **record,
                         wt_error *err);
/* One process at a time. */
int wt__client_lock(int *fd, const char *folder, struct arena *arena, wt_error *err);
/* What keeps others out goes, by who holds it, and the folder if it is empty then: nothing of ours is left. */
void wt__client_leave(const char *folder, struct arena *arena);
bool wt__client_chosen(const struct import_options *options, const char *client);

#endif
