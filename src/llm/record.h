/* record.h: records answers of a language model in a file, so that a run can be repeated without the model.
 *
 * The key of a question is the SHA-256 of canonical JSON (members sorted, no blanks) with the model's name, task, text,
 * schema and max_tokens; for a sample also temperature and seed. The file is JSON Lines, one answer per line:
 *
 *   {"key":"9f0c...","task":"ptr-match/2","answer":"{\"tool\":2}","prompt_tokens":211,"completion_tokens":6,
 *    "ms":140.5,"attempts":1,"repaired":false}
 *
 * Unusable answers are recorded, too, with "error" instead of "answer". Network failures are not recorded. If several
 * lines have the same key, the first counts.
 *
 * Lines are appended by one write each, under a file lock, and synced before the answer is returned. Several threads
 * and processes may append to one file. Lines truncated by a crash are ignored, and the next answer starts on a new
 * line. */
#ifndef WT_LLM_RECORD_H
#define WT_LLM_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "llm/chat.h"

enum {
    CHAT_RECORD_FILE_BYTES_MAX = 256 << 20,
    CHAT_RECORD_LINE_BYTES_MAX = 8 << 20,
};

struct chat_record;

/* Opens a record. Questions are answered from the file at path, or else by inner, whose answers are appended.
 * Creates the file if it does not exist. inner: NULL to replay only. model_name: model to replay; used only without
 * inner. inner and path must outlive the record. Errors: WT_ENOTFOUND (no file to replay), WT_ETOOLONG, WT_EINVAL
 * (no name), WT_EREADONLY, WT_EIO, WT_ENOMEM. */
int wt__chat_record_open(struct chat_record **out, const char *path, const char *model_name, struct chat_model *inner,
                         wt_error *err);
void wt__chat_record_close(struct chat_record *record);

/* Syncs only when closing from now on. Answers survive a killed process, but the last ones may be lost if the machine
 * fails. Use it for many short answers that are cheap to repeat. */
void wt__chat_record_relax(struct chat_record *record);

/* Returns the model, which lives as long as the record. */
struct chat_model *wt__chat_record_model(struct chat_record *record);

/* Computes the key of a question: 64 hexadecimal digits and a NUL. Errors: WT_EFORMAT (not valid UTF-8), WT_ENOMEM. */
int wt__chat_record_key(const char *model_name, const struct chat_question *question, char key[65], wt_error *err);

#endif
