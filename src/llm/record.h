/* record.h: the answers of a language model in a file, so that whatever was asked once can be run again without it, to
 * the same end.
 *
 * A question's key is the SHA-256 of the canonical JSON (members sorted, no blanks) of what decides its answer: the
 * model's name, the task, the text, the schema, max_tokens, and of a sample its temperature and seed. The file is JSON
 * Lines, an answer a line:
 *
 *   {"key":"9f0c...","task":"ptr-match/2","answer":"{\"tool\":2}","prompt_tokens":211,"completion_tokens":6,
 *    "ms":140.5,"attempts":1,"repaired":false}
 *
 * A model that gave no answer that can be used did so for good: that is recorded too, with "error" in place of
 * "answer". A failure of the network is not. Of several lines with one key the first holds.
 *
 * Lines are only ever added, each by one write under a lock on the file, and are on the disk before the answer is
 * handed out. Several threads and several processes may add to one file. A line that a crash cut off is passed over,
 * and the next one begins on a line of its own. */
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

/* Answers from the file at path, then, where it lacks one, from inner, whose answers are added; the file is made when
 * there is none. inner: NULL to replay only; model_name then says whose answers are wanted (else inner's name counts,
 * and model_name may be NULL). inner and path must outlive the record. Errors: WT_ENOTFOUND (no file to replay),
 * WT_ETOOLONG, WT_EINVAL (no name), WT_EREADONLY, WT_EIO, WT_ENOMEM. */
int wt__chat_record_open(struct chat_record **out, const char *path, const char *model_name, struct chat_model *inner,
                         wt_error *err);
void wt__chat_record_close(struct chat_record *record);

/* From now on a line is handed to the system before its answer is, and to the disk at the close: a process that is
 * killed loses none, a machine that fails may lose the last ones. For many short answers whose loss costs no more than
 * asking again. */
void wt__chat_record_relax(struct chat_record *record);

/* Borrowed: it lives as long as the record. */
struct chat_model *wt__chat_record_model(struct chat_record *record);

/* The key of a question: 64 hexadecimal digits and a NUL. Errors: WT_EFORMAT (no UTF-8), WT_ENOMEM. */
int wt__chat_record_key(const char *model_name, const struct chat_question *question, char key[65], wt_error *err);

#endif
