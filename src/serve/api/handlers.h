/* handlers.h: the `answer` functions of our own routes (struct route). */
#ifndef WT_SERVE_API_HANDLERS_H
#define WT_SERVE_API_HANDLERS_H

#include "serve/api/route.h"

/* find.c */
int wt__api_find(struct api_call *call, wt_error *err);
int wt__api_pick(struct api_call *call, wt_error *err);
int wt__api_call(struct api_call *call, wt_error *err);
/* tools.c */
int wt__api_list_tools(struct api_call *call, wt_error *err);
int wt__api_get_tool(struct api_call *call, wt_error *err);
int wt__api_add_tools(struct api_call *call, wt_error *err);
int wt__api_remove_tool(struct api_call *call, wt_error *err);
int wt__api_remove_provider(struct api_call *call, wt_error *err);
/* vectors.c */
int wt__api_embed(struct api_call *call, wt_error *err);
int wt__api_rerank(struct api_call *call, wt_error *err);
/* about.c */
int wt__api_health(struct api_call *call, wt_error *err);
int wt__api_metrics(struct api_call *call, wt_error *err);
int wt__api_status(struct api_call *call, wt_error *err);
int wt__api_recipes(struct api_call *call, wt_error *err);
/* openapi.c */
int wt__api_openapi(struct api_call *call, wt_error *err);

#endif
