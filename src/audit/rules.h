/* rules.h: table of the rules: ids, levels and texts. */
#ifndef WT_AUDIT_RULES_H
#define WT_AUDIT_RULES_H

#include <stdbool.h>

#include "base/str.h"
#include "whichtool/audit.h"

/* Order of findings and of the table. */
enum audit_rule {
    RULE_EMPTY_DESCRIPTION,
    RULE_DUPLICATE_DESCRIPTION,
    RULE_BARE_DESCRIPTION,
    RULE_LONG_DESCRIPTION,
    RULE_STUFFED_WORDS,
    RULE_WORDED_AS_REQUEST,
    RULE_OVERRIDES_INSTRUCTIONS,
    RULE_HIDES_FROM_USER,
    RULE_ASKS_FOR_SECRETS,
    RULE_CLAIMS_PRIORITY,
    RULE_ADDRESSES_MODEL,
    RULE_HIDDEN_CHARACTERS,
    RULE_MIXED_SCRIPTS,
    RULE_BROKEN_SCHEMA,
    RULE_LARGE_SCHEMA,
    RULE_UNKNOWN_REQUIRED,
    RULE_UNDESCRIBED_PARAMETERS,
    RULE_UNTYPED_PARAMETERS,
    RULE_REFUSED_NAME,
    RULE_UNREACHABLE,
    RULE_UNREACHED_BY_USE,
    RULE_SHADOWED_PAIR,
    RULE_COPIED_TOOL,
    RULE_NEAR_COPY,
    RULE_CAPTURE,
    RULE_PIN_CHANGED,
    RULE_PIN_GONE,
    RULE_PIN_NEW,
    AUDIT_RULES
};

struct audit_rule_text {
    const char *id;      /* "empty-description" */
    int level;           /* WT_AUDIT_... */
    const char *summary; /* the defect, in one sentence */
    const char *advice;  /* remedy, unless a finding has its own */
};

extern const struct audit_rule_text wt__audit_rules[AUDIT_RULES];

/* Sets *out to the rule with that id. False if unknown. */
bool wt__find_audit_rule(struct str id, enum audit_rule *out);

#endif
