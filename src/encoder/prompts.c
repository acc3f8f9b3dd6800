/* prompts.c: looks up prompts by the names of sentence-transformers, in its order. */
#include "encoder/prompts.h"

#include <string.h>

#include "base/json.h"

enum { NAMES = 3 };
static const char *const names[TEXT_ROLES][NAMES] = {{"query"}, {"document", "passage", "corpus"}};

/* Returns the prompt of a role, or NULL if it has no prompt. */
static const json_t *find_prompt(const json_t *config, enum text_role role)
{
    const json_t *prompts = wt__json_object(config, "prompts");
    const json_t *usual = json_object_get(config, "default_prompt_name"), *found = NULL;

    for (size_t i = 0; i < NAMES && names[role][i] && !found; i++)
        found = json_object_get(prompts, names[role][i]);
    if (!found && json_is_string(usual))
        found = json_object_get(prompts, json_string_value(usual));
    return found;
}

static int read_prompts(struct model_prompts *out, const char *folder, const char *file, wt_error *err)
{
    json_t *config;
    int rc = wt__model_json(&config, folder, file, false, err);

    for (int role = 0; rc == 0 && role < TEXT_ROLES; role++) {
        const json_t *prompt = find_prompt(config, (enum text_role)role);
        size_t len = json_string_length(prompt);

        if (prompt && !json_is_null(prompt) && !json_is_string(prompt))
            rc = wt__fail(err, WT_EMODEL, "%s: %s has a prompt that is not a string", folder, file);
        else if (len >= MODEL_PROMPT)
            rc = wt__fail(err, WT_EMODEL, "%s: %s has a prompt of %zu bytes; at most %d are supported", folder, file,
                          len, MODEL_PROMPT - 1);
        else if (len > 0) /* contains no NUL, which the JSON parser rejects */
            memcpy(out->of[role], json_string_value(prompt), len);
    }
    json_decref(config);
    return rc;
}

bool wt__prompts_exist(const struct model_prompts *prompts)
{
    return prompts->of[TEXT_REQUEST][0] || prompts->of[TEXT_TOOL][0];
}

int wt__model_prompts(struct model_prompts *out, const char *folder, wt_error *err)
{
    *out = (struct model_prompts){.of = {{0}}};
    int rc = read_prompts(out, folder, MODEL_SENTENCE_CONFIG, err);

    if (rc == 0 && !wt__prompts_exist(out))
        rc = read_prompts(out, folder, MODEL_RECORD, err);
    return rc;
}

const struct str *wt__prompts_apply(const struct model_prompts *prompts, enum text_role role, const struct str *texts,
                                    size_t count, struct arena *arena)
{
    struct str prompt = role < TEXT_ROLES ? wt__str(prompts->of[role]) : (struct str){0};

    if (prompt.len == 0)
        return texts;
    struct str *all = wt__arena_array(arena, struct str, count);
    for (size_t i = 0; all && i < count; i++) {
        char *bytes = wt__arena_alloc(arena, prompt.len + texts[i].len + 1, 1);

        if (!bytes)
            return NULL;
        memcpy(bytes, prompt.ptr, prompt.len);
        if (texts[i].len > 0)
            memcpy(bytes + prompt.len, texts[i].ptr, texts[i].len);
        all[i] = (struct str){bytes, prompt.len + texts[i].len};
    }
    return all;
}
