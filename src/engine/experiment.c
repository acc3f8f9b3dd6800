#include "engine/experiment.h"

#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/str.h"

static int fail_unknown(struct str name, const struct experiment_setting *settings, size_t count, wt_error *err)
{
    WT_CLEANUP(wt__buffer_dispose) struct buffer names = {0};
    for (size_t i = 0; i < count; i++)
        wt__buffer_printf(&names, "%s%s", i > 0 ? ", " : "", settings[i].name);
    return wt__fail(err, WT_EINVAL, "experiment: unknown setting \"%.*s\"; use %s",
                    (int)(name.len < 40 ? name.len : 40), name.ptr, names.ptr ? names.ptr : "none");
}

static int read_experiment_setting(struct str part, const struct experiment_setting *settings, size_t count,
                                   struct arena *arena, wt_error *err)
{
    const char *equals = memchr(part.ptr, '=', part.len);
    struct str name = wt__str_trim((struct str){part.ptr, equals ? (size_t)(equals - part.ptr) : part.len});
    struct str value = {0};
    if (equals)
        value = wt__str_trim((struct str){equals + 1, part.len - (size_t)(equals + 1 - part.ptr)});
    for (size_t i = 0; i < count; i++) {
        if (!wt__str_equal(name, wt__str(settings[i].name)))
            continue;
        if (value.len == 0 || *settings[i].value)
            return wt__fail(err, WT_EINVAL, "experiment: give %s one value, as in %s=VALUE", settings[i].name,
                            settings[i].name);
        *settings[i].value = wt__arena_copy(arena, value);
        WT_CHECK_ALLOC(*settings[i].value, err);
        return 0;
    }
    return fail_unknown(name, settings, count, err);
}

int wt__experiment_read(const char *text, const struct experiment_setting *settings, size_t count, struct arena *arena,
                        wt_error *err)
{
    for (size_t i = 0; i < count; i++)
        *settings[i].value = NULL;
    while (text && *text) {
        size_t len = strcspn(text, ";");
        struct str part = wt__str_trim((struct str){text, len});
        if (part.len > 0)
            WT_TRY(read_experiment_setting(part, settings, count, arena, err));
        text += len + (text[len] == ';');
    }
    return 0;
}
