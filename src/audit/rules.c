#include "audit/rules.h"

const struct audit_rule_text wt__audit_rules[AUDIT_RULES] = {
    [RULE_EMPTY_DESCRIPTION] = {"empty-description", WT_AUDIT_WARNING, "A tool has no description.",
                                "Say in one sentence what the tool does, on what, and what it returns."},
    [RULE_DUPLICATE_DESCRIPTION] = {"duplicate-description", WT_AUDIT_WARNING,
                                    "Tools of one provider have the same description.",
                                    "Say in each description how the tool differs from the others."},
    [RULE_BARE_DESCRIPTION] = {"bare-description", WT_AUDIT_NOTE, "A description only repeats the tool's name.",
                               "Add what the tool acts on, what it returns, and when to use it."},
    [RULE_LONG_DESCRIPTION] =
        {"long-description", WT_AUDIT_NOTE, "A description is longer than an API accepts.",
         "Say what the tool does in the first sentence; move details of parameters to the schema, "
         "and examples to the documentation."},
    [RULE_STUFFED_WORDS] = {"stuffed-words", WT_AUDIT_WARNING,
                            "A name or description is a list of words instead of a sentence.",
                            "Name the tool in a few words, and describe it in a sentence."},
    [RULE_WORDED_AS_REQUEST] = {"worded-as-request", WT_AUDIT_WARNING,
                                "A name or description is phrased like a user's request.",
                                "Say what the tool does, not what a user might ask."},
    [RULE_OVERRIDES_INSTRUCTIONS] = {"overrides-instructions", WT_AUDIT_ERROR,
                                     "A text tells the model to ignore its instructions.",
                                     "Remove the sentence. Do not use the tool until you know who wrote it."},
    [RULE_HIDES_FROM_USER] = {"hides-from-user", WT_AUDIT_ERROR,
                              "A text tells the model to hide something from the user.",
                              "Remove the sentence. Do not use the tool until you know who wrote it."},
    [RULE_ASKS_FOR_SECRETS] = {"asks-for-secrets", WT_AUDIT_ERROR,
                               "A text asks the model for private files, credentials or the conversation.",
                               "Remove the sentence; let the program that calls the tool keep its credentials."},
    [RULE_CLAIMS_PRIORITY] = {"claims-priority", WT_AUDIT_WARNING,
                              "A text tells the model to call the tool first, always, or instead of others.",
                              "Say what the tool is for, and leave the choice to the model. If a parameter takes the "
                              "output of another tool, say so at the parameter."},
    [RULE_ADDRESSES_MODEL] = {"addresses-model", WT_AUDIT_NOTE,
                              "A text gives the model a role or a duty instead of describing the tool.",
                              "Describe the tool; put advice for the model into its system prompt."},
    [RULE_HIDDEN_CHARACTERS] = {"hidden-characters", WT_AUDIT_ERROR,
                                "A text has characters that are invisible, or that reverse the direction of text.",
                                "Remove the characters, and read the remaining text."},
    [RULE_MIXED_SCRIPTS] = {"mixed-scripts", WT_AUDIT_ERROR, "A word mixes look-alike letters of several alphabets.",
                            "Write the word in one alphabet."},
    [RULE_BROKEN_SCHEMA] = {"broken-schema", WT_AUDIT_ERROR, "A schema is not valid JSON Schema.",
                            "Fix the schema; `whichtool show --json` prints it."},
    [RULE_LARGE_SCHEMA] = {"large-schema", WT_AUDIT_WARNING, "A schema is very large.",
                           "Split the tool, or remove parameters that few calls need."},
    [RULE_UNKNOWN_REQUIRED] = {"unknown-required", WT_AUDIT_WARNING,
                               "A required parameter is not among the properties.",
                               "Declare the property, or remove its name from `required`."},
    [RULE_UNDESCRIBED_PARAMETERS] =
        {"undescribed-parameters", WT_AUDIT_NOTE, "Parameters have no description, or neither description nor type.",
         "Describe the meaning of each, its type, its unit or format, and give an example."},
    [RULE_UNTYPED_PARAMETERS] = {"untyped-parameters", WT_AUDIT_NOTE, "Parameters with a description have no type.",
                                 "Give each a type, or list the allowed values."},
    [RULE_REFUSED_NAME] = {"refused-name", WT_AUDIT_WARNING, "An API rejects the tool's name.",
                           "Name the tool in at most 64 letters, digits and '_', starting with a letter."},
    [RULE_UNREACHABLE] = {"unreachable", WT_AUDIT_WARNING, "A tool is not found by its own description.",
                          "Start with what only this tool does, in words that users use."},
    [RULE_UNREACHED_BY_USE] = {"unreached-by-use", WT_AUDIT_WARNING,
                               "A tool is not found by most of the recorded requests that used it.",
                               "Use the words of these requests in its description, or train: `whichtool train`."},
    [RULE_SHADOWED_PAIR] = {"shadowed-pair", WT_AUDIT_NOTE, "Two tools are found for each other's description.",
                            "State the difference in both descriptions, or merge the tools."},
    [RULE_COPIED_TOOL] = {"copied-tool", WT_AUDIT_NOTE, "Several providers have the same tool, word for word.",
                          "Keep one provider, or say in each description whose data the tool reads."},
    [RULE_NEAR_COPY] = {"near-copy", WT_AUDIT_NOTE, "A tool is nearly the same as an older one.",
                        "Keep one of them, or say in the description how this one differs."},
    [RULE_CAPTURE] = {"capture", WT_AUDIT_WARNING,
                      "A provider's share of the first places is far above its share of the tools.",
                      "Describe each tool in words of its own subject; remove words that fit any request."},
    [RULE_PIN_CHANGED] =
        {"pin-changed", WT_AUDIT_ERROR, "A definition differs from its pin.",
         "Review the change before you use the tool again; then pin it again: `whichtool check --pin FILE`."},
    [RULE_PIN_GONE] =
        {"pin-gone", WT_AUDIT_WARNING, "A pinned tool is missing in the catalogue.",
         "If the removal is intended, pin again (`whichtool check --pin FILE`); otherwise add the tool again."},
    [RULE_PIN_NEW] = {"pin-new", WT_AUDIT_WARNING, "A tool is not pinned.",
                      "Review its definition; then pin it: `whichtool check --pin FILE`."},
};

bool wt__find_audit_rule(struct str id, enum audit_rule *out)
{
    for (unsigned r = 0; r < AUDIT_RULES; r++) {
        if (!wt__str_equal(id, wt__str(wt__audit_rules[r].id)))
            continue;
        *out = (enum audit_rule)r;
        return true;
    }
    return false;
}
