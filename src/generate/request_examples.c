#include "generate/request_examples.h"

#include "base/buffer.h"
#include "base/sha256.h"
#include "catalog/dataset.h"
#include "generate/request_set.h"
#include "generate/text_lines.h"

/* Six domains, two to four tools each, all fictitious. */
static const char *const seeds[EXAMPLES_SEEDS] = {
    "{\"instruction\": \"My sister lands in Porto at nine on Friday evening; get her a ride to the flat and tell her "
    "on the phone where the driver waits.\", \"functions\": [\"flight_status\", \"book_ride\", \"send_message\"], "
    "\"explanation\": \"The arrival decides when the ride is booked, and the pick-up point of the ride goes into the "
    "message.\"}",
    "{\"instruction\": \"Which of our three warehouses would run out of the blue kettles first at last month's "
    "pace?\", "
    "\"functions\": [\"list_sales\", \"stock_level\"], \"explanation\": \"The pace of sales is set against what each "
    "warehouse has.\"}",
    "{\"instruction\": \"Put the scanned 2019 contracts with Hale & Sons into one searchable PDF and file it under "
    "suppliers\", \"functions\": [\"find_files\", \"recognise_text\", \"merge_pdf\", \"move_file\"], \"explanation\": "
    "\"The scans are found, made searchable, joined, and the result is filed.\"}",
    "{\"instruction\": \"I'd like the mean rainfall of the last ten Aprils in Bergen as a chart that I can paste into "
    "a report.\", \"functions\": [\"climate_history\", \"column_mean\", \"bar_chart\"], \"explanation\": \"The history "
    "gives the columns, their means are what the chart draws.\"}",
    "{\"instruction\": \"Find a pharmacy that is open now near 12 Rue Daguerre and walk me there avoiding stairs\", "
    "\"functions\": [\"places_nearby\", \"walking_route\"], \"explanation\": \"The place that is found is where the "
    "route ends.\"}",
    "{\"instruction\": \"Since yesterday's release the checkout page is slow, so roll back whichever change touched "
    "it and let the team know what you undid.\", \"functions\": [\"list_deployments\", \"diff_release\", "
    "\"roll_back\", \"post_to_channel\"], \"explanation\": \"The change is found among the deployments, undone, and "
    "what was undone is posted.\"}",
};

void wt__request_examples_open(struct request_examples *out, uint64_t seed)
{
    *out = (struct request_examples){.count = EXAMPLES_SEEDS, .seen = EXAMPLES_SEEDS};
    for (size_t i = 0; i < EXAMPLES_SEEDS; i++)
        out->lines[i] = wt__str(seeds[i]);
    wt__rng_seed(&out->rng, seed);
}

/* Adds a person's request with the titles of its tools, if it has as many tools as a generated request may have. */
static int add_example_query(struct request_examples *out, const struct query *query, const struct text_lines *corpus,
                             wt_error *err)
{
    struct str names[REQUEST_TOOLS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < query->judgement_count; i++) {
        const struct judgement *judgement = &query->judgements[i];
        const uint32_t *place = wt__map_get(&corpus->places, judgement->tool);
        if (judgement->gain <= 0)
            continue;
        if (count == REQUEST_TOOLS_MAX)
            return 0;
        names[count++] = place && corpus->items[*place].title.len > 0 ? corpus->items[*place].title : judgement->tool;
    }
    return count < REQUEST_TOOLS_MIN ? 0 : wt__request_examples_add(out, query->text, names, count, STR(""), err);
}

int wt__request_examples_read(struct request_examples *out, const char *dir, uint64_t seed, wt_error *err)
{
    struct dataset people = {0};
    struct text_lines corpus = {0};
    *out = (struct request_examples){0};
    wt__rng_seed(&out->rng, seed);
    int rc = wt__dataset_read(&people, dir, "train", err);
    if (rc == 0)
        rc = wt__text_lines_read(&corpus, dir, "corpus.jsonl", err);
    for (size_t i = 0; rc == 0 && i < people.len; i++)
        rc = add_example_query(out, &people.queries[i], &corpus, err);
    if (rc == 0 && out->count == 0)
        rc = wt__fail(err, WT_EEMPTY, "%s has no train request with %d to %d tools to show as an example", dir,
                      (int)REQUEST_TOOLS_MIN, (int)REQUEST_TOOLS_MAX);
    wt__dataset_dispose(&people);
    wt__text_lines_dispose(&corpus);
    return rc;
}

void wt__request_examples_digest(const struct request_examples *examples, char hex[65])
{
    struct sha256 sha;
    unsigned char digest[32];
    wt__sha256_begin(&sha);
    for (size_t i = 0; i < examples->count; i++) {
        wt__sha256_update(&sha, examples->lines[i].ptr, examples->lines[i].len);
        wt__sha256_update(&sha, "\n", 1);
    }
    wt__sha256_end(&sha, digest);
    wt__sha256_hex(digest, hex);
}

void wt__request_examples_dispose(struct request_examples *examples)
{
    wt__arena_dispose(&examples->arena);
    examples->count = 0;
}

int wt__request_examples_add(struct request_examples *examples, struct str instruction, const struct str *names,
                             size_t count, struct str explanation, wt_error *err)
{
    struct buffer line = {0};
    size_t place = examples->seen++;
    if (place >= EXAMPLES_POOL)
        place = wt__rng_below(&examples->rng, examples->seen);
    if (place >= EXAMPLES_POOL)
        return 0;
    wt__buffer_text(&line, "{\"instruction\": ");
    wt__buffer_json(&line, instruction);
    wt__buffer_text(&line, ", \"functions\": [");
    for (size_t i = 0; i < count; i++) {
        wt__buffer_text(&line, i ? ", " : "");
        wt__buffer_json(&line, names[i]);
    }
    wt__buffer_text(&line, "], \"explanation\": ");
    wt__buffer_json(&line, explanation);
    wt__buffer_char(&line, '}');
    const char *copy = line.failed ? NULL : wt__arena_copy(&examples->arena, wt__buffer_view(&line));
    if (copy)
        examples->lines[place] = (struct str){copy, line.len};
    if (copy && place == examples->count)
        examples->count++;
    wt__buffer_dispose(&line);
    return copy ? 0 : wt__fail_nomem(err);
}

size_t wt__request_examples_draw(const struct request_examples *examples, size_t wanted, struct rng *rng,
                                 struct str *shown)
{
    uint32_t order[EXAMPLES_POOL];
    wanted = wanted < examples->count ? wanted : examples->count;
    wt__rng_draw(rng, order, examples->count, wanted);
    for (size_t i = 0; i < wanted; i++)
        shown[i] = examples->lines[order[i]];
    return wanted;
}
