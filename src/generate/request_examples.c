#include "generate/request_examples.h"

#include "base/buffer.h"

/* Of six walks of life, of two tools to four, none of a store that anybody has. */
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
