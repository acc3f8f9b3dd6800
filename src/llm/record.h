/* record.h: records answers of a language model in a file, so that a run can be repeated without the model.
 *
 * The key of a question is the SHA-256 of canonical JSON (members sorted, no blanks) with the model's name, task, text,
 * schema and max_tokens. For temperatures above 0, temperature and seed are added. The file is JSON Lines, one answer
 * per line:
 *
 *   {"key":"9f0c...","task":"ptr-match/2","answer":"{\"tool\":2}","prompt_tokens":211,"completion_tokens":6,
 *    "ms":140.5,"attempts":1,"repaired":false}
 *
 * Unusable answers are also recorded, with "error" instead of "answer". Network failures are not recorded. If several
 * lines have the same key, the first line is used.
 *
 * Each line is appended with one write under a file lock, and synced to disk before the answer is returned (unless
 * relaxed). Several threads and processes may append to one file. A line truncated by a crash is ignored, and the next
 * answer starts on a new line. */
#ifndef WT_LLM_RECORD_H
#define WT_LLM_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

enum {
    CHAT_RECORD_FILE_BYTES_MAX = 256 << 20, /* maximum size of a record */
    CHAT_RECORD_LINE_BYTES_MAX = 8 << 20,   /* maximum length of a line */
};

struct chat_record;

/* Opens the record in the file `path`. A question is answered from the file if the file has the answer. Otherwise
 * `inner` is asked, and its answer is appended. inner: NULL to replay only; else the file is created if it does not
 * exist. model_name: name of the model to replay; used only without `inner`. inner and path must outlive the record.
 * Errors: WT_ENOTFOUND (no file to replay, or no folder for the file), WT_ETOOLONG, WT_EINVAL (no name), WT_EREADONLY,
 * WT_EIO, WT_ENOMEM. */
int wt__chat_record_open(struct chat_record **out, const char *path, const char *model_name, struct chat_model *inner,
                         wt_error *err);
void wt__chat_record_close(struct chat_record *record);

/* Turns off the sync after each answer: the file is then synced only when the record is closed. Recorded answers
 * survive a killed process, but the last answers may be lost if the machine fails. Suitable for many short answers that
 * are cheap to repeat. */
void wt__chat_record_relax(struct chat_record *record);

/* Returns the model, which lives as long as the record. */
struct chat_model *wt__chat_record_model(struct chat_record *record);

/* Computes the key of a question: 64 hexadecimal digits and a NUL. Errors: WT_EFORMAT (not valid UTF-8), WT_ENOMEM. */
int wt__chat_record_key(const char *model_name, const struct chat_question *question, char key[65], wt_error *err);

#endif
