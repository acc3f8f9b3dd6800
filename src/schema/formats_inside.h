/* formats_inside.h: the check functions for the table in formats.c. */
#ifndef WT_SCHEMA_FORMATS_INSIDE_H
#define WT_SCHEMA_FORMATS_INSIDE_H

#include <stdbool.h>

#include "base/str.h"

/* formats_time.c: RFC 3339 */
bool wt__is_date(struct str text);
bool wt__is_time(struct str text);
bool wt__is_date_time(struct str text);
bool wt__is_duration(struct str text);

/* formats_host.c: RFC 1123, 2673, 4291, 5321 */
bool wt__is_hostname(struct str text);
bool wt__is_ipv4(struct str text);
bool wt__is_ipv6(struct str text);
bool wt__is_email(struct str text);
bool wt__is_idn_email(struct str text);

/* formats_uri.c: RFC 3986, 3987, 6570 */
bool wt__is_uri(struct str text);
bool wt__is_uri_reference(struct str text);
bool wt__is_iri(struct str text);
bool wt__is_iri_reference(struct str text);
bool wt__is_uri_template(struct str text);

#endif
