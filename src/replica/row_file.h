/* row_file.h: the format of the files base-* and changes-* of a publication: records, one after the other, of
 *
 *   4 bytes     length of the content, little-endian
 *   1 byte      'P' puts a row, 'D' deletes the row of a key
 *   1 byte      number of the table
 *   content     encoded values (store/rows.h)
 *
 * A changed row is deleted and put. Each publication appends its deletions before its puts, so that two rows can swap
 * a unique name. The bytes are checked by the digest in the manifest, and untrusted nevertheless. */
#ifndef WT_REPLICA_ROW_FILE_H
#define WT_REPLICA_ROW_FILE_H

#include "base/buffer.h"
#include "store/rows.h"

enum row_change { ROW_PUT = 'P', ROW_DELETE = 'D' };
enum { ROW_RECORD_BYTES = 6 /* bytes of a record before its content */ };

/* Appends a record. */
void wt__row_record(struct buffer *out, enum row_change change, unsigned table, struct str content);

/* Called once per record; a non-zero result stops the visit and is returned. */
typedef int (*row_record_visit)(void *context, enum row_change change, unsigned table, struct str content);

/* Returns the number of bytes of the whole records at the start. A malformed record counts as whole. */
size_t wt__row_file_prefix(struct str bytes);

/* Visits the records of the bytes, from a whole record to a whole record. Fails with WT_EFORMAT. */
int wt__row_file_each(struct str bytes, row_record_visit visit, void *context, wt_error *err);

#endif
