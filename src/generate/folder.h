/* folder.h: the folder of a data set, and the state from which a stopped run continues.
 *
 *   .lock           held while a run works in the folder
 *   settings.json   the options of the data set; a run with other options is refused
 *   answers.jsonl   the language model's answers so far (llm/record.h), append-only; each is written before it is used
 *
 * A run always starts from the beginning and finds its earlier questions answered. The same answers lead to the same
 * questions, so a continued run writes the same bytes as an uninterrupted one, without any other saved state. */
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
    int lock; /* -1 if not held */
};

/* Opens the folder and creates it if needed. settings: one line of JSON; NULL to save neither settings nor answers.
 * inner: answers the questions without a recorded answer; borrowed. Errors: WT_EINVAL (other settings, or data from
 * elsewhere), WT_EBUSY, WT_EREADONLY, WT_EIO, ... */
int wt__folder_open(struct generate_folder *out, const char *path, const char *settings, struct chat_model *inner,
                    wt_error *err);
void wt__folder_close(struct generate_folder *folder);

/* Returns the model that answers from the folder first, or NULL if answers are not saved. Borrowed. */
struct chat_model *wt__folder_model(const struct generate_folder *folder);

/* Creates a subfolder and its parents. */
int wt__folder_make_subfolder(struct generate_folder *folder, const char *name, wt_error *err);

/* Replaces a file atomically. Returns WT_ENOMEM if the buffer has failed. */
int wt__folder_write(struct generate_folder *folder, const char *name, const struct buffer *bytes, wt_error *err);

/* Removes a file if it exists. */
int wt__folder_remove(struct generate_folder *folder, const char *name, wt_error *err);

bool wt__folder_has(struct generate_folder *folder, const char *name);

#endif
