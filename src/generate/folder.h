/* folder.h: the folder of a data set that is being made, and what a stopped run goes on from.
 *
 *   .lock           held while a run works there
 *   settings.json   what the data set is to be; another run with others is refused
 *   answers.jsonl   every answer of the language model so far (llm/record.h), written before it is used, and only ever
 *                   added to
 *
 * A run always begins at the beginning, and finds its earlier questions answered: where the same answers lead to the
 * same questions, a run that goes on makes the very bytes of one that was never stopped, and nothing else has to be
 * kept or kept sound. */
#ifndef WT_GENERATE_FOLDER_H
#define WT_GENERATE_FOLDER_H

#include "base/arena.h"
#include "base/error.h"
#include "llm/record.h"

#define FOLDER_SETTINGS "settings.json"
#define FOLDER_ANSWERS "answers.jsonl"

struct generate_folder {
    struct arena arena;
    const char *path;
    struct chat_record *answers;
    int lock; /* -1: none */
};

/* Makes the folder where there is none. settings: one line of JSON; NULL: none are kept, and no answers. inner: who is
 * asked what the folder does not know; borrowed. Errors: WT_EINVAL (other settings, or data that no run left there),
 * WT_EBUSY, WT_EREADONLY, WT_EIO, ... */
int wt__folder_open(struct generate_folder *out, const char *path, const char *settings, struct chat_model *inner,
                    wt_error *err);
void wt__folder_close(struct generate_folder *folder);

/* The model that answers from the folder first. Borrowed. */
struct chat_model *wt__folder_model(const struct generate_folder *folder);

/* Makes a folder within it, with those above it. */
int wt__folder_make(struct generate_folder *folder, const char *name, wt_error *err);

/* Replaces one file of it in one step; bytes that failed are WT_ENOMEM. */
int wt__folder_write(struct generate_folder *folder, const char *name, const struct buffer *bytes, wt_error *err);

/* Takes one away, where it is there. */
int wt__folder_remove(struct generate_folder *folder, const char *name, wt_error *err);

bool wt__folder_has(struct generate_folder *folder, const char *name);

#endif
