/* old_whichtool.h: an earlier version of include/whichtool.h, reduced to the tested functions; its structs end earlier.
 * A program that includes it is an older caller of the current library. */
#ifndef WT_TESTS_ENGINE_OLD_WHICHTOOL_H
#define WT_TESTS_ENGINE_OLD_WHICHTOOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct wt_engine wt_engine;
typedef struct wt_error wt_error; /* opaque here; the tests pass NULL */

typedef struct wt_open_options {
    size_t size;
    int read_only;
    const char *model, *models_dir;
} wt_open_options;

typedef struct wt_add_options {
    size_t size;
    const char *format, *provider;
} wt_add_options;

typedef struct wt_list_options {
    size_t size;
    const char *provider;
} wt_list_options;

typedef struct wt_find_options {
    size_t size;
    size_t k;
    const char *recipe;
} wt_find_options;

typedef struct wt_pick_options {
    size_t size;
    double complete, abstain;
} wt_pick_options;

typedef struct wt_record_options {
    size_t size;
    const char *outcome;
} wt_record_options;

typedef struct wt_usage_filter {
    size_t size;
    const char *tool;
    int64_t before;
} wt_usage_filter;

typedef struct wt_catalog_info {
    size_t size;
    uint64_t tools, providers;
} wt_catalog_info;

typedef struct wt_usage_info {
    size_t size;
    uint64_t usages;
} wt_usage_info;

/* Results are allocated by the library and grow at their ends. */
typedef struct wt_tool {
    const char *id;
} wt_tool;

typedef struct wt_tools {
    size_t len;
    const wt_tool *const *items;
} wt_tools;

typedef struct wt_hit {
    const wt_tool *tool;
} wt_hit;

typedef struct wt_hits {
    size_t len;
    const wt_hit *const *items;
} wt_hits;

typedef struct wt_usages {
    size_t len;
} wt_usages;

typedef struct wt_picked wt_picked;
typedef struct wt_add_report wt_add_report;

int wt_open(wt_engine **out, const char *path, const wt_open_options *options, wt_error *err);
void wt_close(wt_engine *engine);
int wt_add(wt_engine *engine, const char *bytes, size_t len, const wt_add_options *options, wt_add_report **out,
           wt_error *err);
void wt_add_report_free(wt_add_report *report);
int wt_list(wt_engine *engine, const wt_list_options *options, wt_tools **out, wt_error *err);
void wt_tools_free(wt_tools *tools);
int wt_info(wt_engine *engine, wt_catalog_info *out, wt_error *err);
int wt_find(wt_engine *engine, const char *request, size_t request_len, const wt_find_options *options, wt_hits **out,
            wt_error *err);
void wt_hits_free(wt_hits *hits);
int wt_pick(wt_engine *engine, const char *request, size_t request_len, const wt_pick_options *options, wt_picked **out,
            wt_error *err);
void wt_picked_free(wt_picked *picked);
int wt_record_usage(wt_engine *engine, const char *request, size_t request_len, const char *const *tools, size_t count,
                    const wt_record_options *options, wt_error *err);
int wt_list_usage(wt_engine *engine, const wt_usage_filter *filter, wt_usages **out, wt_error *err);
void wt_usages_free(wt_usages *usages);
int wt_get_usage_info(wt_engine *engine, wt_usage_info *out, wt_error *err);

#endif
