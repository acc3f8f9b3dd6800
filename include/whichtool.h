/* whichtool.h: finds the few right tools for a request, out of hundreds to a million.
 *
 *   wt_engine *engine;
 *   wt_error err;
 *   if (wt_open(&engine, "tools.wt", NULL, &err) < 0) ...            one file holds the catalogue
 *   wt_add_path(engine, "tools.json", NULL, &report, &err);          any supported format
 *   wt_find(engine, request, strlen(request), NULL, &hits, &err);    offline, in milliseconds
 *
 * Conventions for all functions:
 *   - Return values: 0 or a count on success, a negative WT_E... code on failure.
 *   - Errors: `err` belongs to the caller and may be NULL. It is written only on failure. Its message says what failed,
 *     on what, and what to do about it.
 *   - Ownership: `T **out` is set to NULL on failure, unless the function says otherwise. On success the caller owns
 *     the result and frees it with the matching _free function; _free of NULL is a no-op. Strings inside a result live
 *     as long as the result.
 *   - Text is UTF-8. Input with a length parameter need not end in NUL. Returned strings end in NUL.
 *   - Structs of the caller begin with `size`. Fill them with their _init function, then change fields. A NULL pointer
 *     to options means the defaults, and so does a zero in any field. WT_OFF turns an option off whose default is on.
 *   - `size` is the struct's sizeof in the caller's build, so structs may grow at their end. The library neither reads
 *     nor writes beyond it. Fields that an older caller lacks count as 0, and fields unknown to an older library are
 *     ignored. A `size` too small to hold itself, such as 0, gives WT_EINVAL: the caller forgot the _init function.
 *     wt_error has no size and never changes.
 *   - The library allocates results. Their structs may also grow at their ends. So an array in a result is an array of
 *     pointers ([len]; may be NULL if len is 0), and structs are never nested by value. Do not construct results
 *     yourself: pass tools from a list or a hit to wt_export.
 *   - The _init functions are inline because they write the caller's size. A binding without a C compiler zeroes the
 *     struct and writes its sizeof into the first field.
 *   - Pointers may be NULL only where the comment says so. Other pointers are not checked. The engine, `out`, and a
 *     text or list of non-zero length are required.
 *   - Arguments are borrowed for the call. An engine copies the arguments that it needs later, such as wt_open_options.
 *   - Threads: any number of threads may use an engine at once. Call wt_close after all of them have finished. An
 *     engine does not survive fork(): the child must open its own engine and must not use the parent's. Several
 *     engines, in one process or in several, may share a store.
 *   - The library never prints, exits, aborts on bad input or installs signal handlers. Once per process, it loads
 *     libraries, chooses kernels for the processor, and wraps jansson's allocator. It keeps no other global state.
 *
 * Include this header alone. It includes the others:
 *   - whichtool/error.h      errors and the version
 *   - whichtool/engine.h     stores, and the tools in them
 *   - whichtool/add.h        importing tools
 *   - whichtool/find.h       finding and picking tools
 *   - whichtool/usage.h      recorded use
 *   - whichtool/model.h      encoders
 *   - whichtool/call.h       tool calls with arguments
 *   - whichtool/train.h      training models on your own data
 *   - whichtool/eval.h       measuring recipes on a data set
 *   - whichtool/generate.h   data sets written by a language model
 *   - whichtool/audit.h      finding problems in a catalogue
 *   - whichtool/review.h     changed definitions held back until a person approves them
 *   - whichtool/tenants.h    many tenants over one catalogue
 *   - whichtool/json.h       the main operations with JSON in and out, for bindings
 *   - whichtool/validator.h  JSON Schema validation, without an engine */
#ifndef WHICHTOOL_H
#define WHICHTOOL_H

#include "whichtool/add.h"
#include "whichtool/audit.h"
#include "whichtool/call.h"
#include "whichtool/engine.h"
#include "whichtool/error.h"
#include "whichtool/eval.h"
#include "whichtool/find.h"
#include "whichtool/generate.h"
#include "whichtool/json.h"
#include "whichtool/model.h"
#include "whichtool/review.h"
#include "whichtool/tenants.h"
#include "whichtool/train.h"
#include "whichtool/usage.h"
#include "whichtool/validator.h"

#endif
