/* costs.h: size of the catalogue in a prompt, for each API. */
#ifndef WT_AUDIT_COSTS_H
#define WT_AUDIT_COSTS_H

#include "audit/auditing.h"

/* Fills out->costs. Errors: WT_ENOMEM, WT_ECANCELLED. */
int wt__audit_costs(struct audit_run *a, wt_audit_result *out, wt_error *err);

#endif
