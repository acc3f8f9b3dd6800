/* client_files_inside.h: functions shared by init and undo. */
#ifndef WT_SETUP_CLIENT_FILES_INSIDE_H
#define WT_SETUP_CLIENT_FILES_INSIDE_H

#include "setup/client_files.h"

/* Sets the paths of servers.json and init.json in the folder. */
int wt__client_own_paths(const char *folder, struct arena *arena, const char **servers, const char **record,
                         wt_error *err);
/* Locks the folder against other processes. */
int wt__client_lock(int *fd, const char *folder, struct arena *arena, wt_error *err);
/* Removes the lock file, and the folder if it is empty. The caller holds the lock. */
void wt__client_remove_lock(const char *folder, struct arena *arena);
/* True if the options include the client. */
bool wt__client_is_chosen(const struct client_import_options *options, const char *client);

#endif
