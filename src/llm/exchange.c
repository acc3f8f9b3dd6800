/* exchange.c: see exchange.h. */
#include "llm/exchange.h"

void wt__chat_reply_dispose(struct chat_reply *reply)
{
    json_decref(reply->got.json);
    wt__arena_dispose(&reply->arena);
}

int wt__chat_put(struct chat_reply *reply, const struct prompt *prompt, const struct prompt_value *values, size_t count,
                 struct chat_model *model, struct chat_question question)
{
    reply->put = true;
    reply->rc = wt__progress_step(question.progress, 0)
                    ? wt__fail_cancelled(&reply->why)
                    : wt__prompt_ask(prompt, values, count, model, &question, &reply->arena, &reply->got, &reply->why);
    reply->question = question.text;
    wt__progress_step(question.progress, 1);
    return reply->rc == WT_EFORMAT ? 0 : reply->rc;
}

int wt__chat_reject(struct chat_exchange *exchange, struct chat_cost *cost, const char *reason, struct arena *arena,
                    wt_error *err)
{
    cost->unusable++;
    exchange->unusable = wt__arena_copy(arena, wt__str(reason));
    return exchange->unusable ? 0 : wt__fail_nomem(err);
}

int wt__chat_keep(struct chat_exchange *out, struct chat_cost *cost, const struct prompt *prompt,
                  const struct chat_reply *reply, struct arena *arena, wt_error *err)
{
    const struct chat_answer *got = &reply->got;
    if (reply->rc < 0 && reply->rc != WT_EFORMAT) {
        if (err)
            *err = reply->why;
        return wt__fail_context(err, reply->rc, "%s", prompt->task);
    }
    cost->questions++;
    cost->requests += got->attempts;
    cost->repaired += got->repaired;
    cost->prompt_tokens += got->prompt_tokens;
    cost->completion_tokens += got->completion_tokens;
    cost->ms += got->ms;

    *out = (struct chat_exchange){
        .task = wt__arena_copy(arena, wt__str(prompt->task)),
        .question = {wt__arena_copy(arena, reply->question), reply->question.len},
        .answer = {wt__arena_copy(arena, got->text), got->text.len},
    };
    if (!out->task || !out->question.ptr || !out->answer.ptr)
        return wt__fail_nomem(err);
    return reply->rc == WT_EFORMAT ? wt__chat_reject(out, cost, reply->why.message, arena, err) : 0;
}
