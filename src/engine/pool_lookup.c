/* pool_lookup.c: finds tools and providers in a row pool (row_pool.h). */
#include <stdlib.h>

#include "engine/row_pool.h"

int wt__compare_pool_providers(const void *a, const void *b)
{
    uint32_t x = ((const struct pool_provider *)a)->number, y = ((const struct pool_provider *)b)->number;
    return (x > y) - (x < y);
}

const struct pool_provider *wt__row_pool_find_row_provider(const struct row_pool *pool, uint32_t row)
{
    const struct pool_provider wanted = {.number = pool->index->snapshot->keys[row].provider};
    return pool->provider_count == 0
               ? NULL
               : bsearch(&wanted, pool->providers, pool->provider_count, sizeof wanted, wt__compare_pool_providers);
}

struct str wt__row_pool_provider(const struct row_pool *pool, uint32_t row)
{
    const struct pool_provider *found = wt__row_pool_find_row_provider(pool, row);
    return found ? found->name : STR("");
}

uint32_t wt__row_pool_find_provider(const struct row_pool *pool, struct str name)
{
    const uint32_t *provider = wt__map_get(&pool->by_provider, name);
    return provider ? *provider : (uint32_t)pool->provider_count;
}

const uint32_t *wt__row_pool_provider_rows(const struct row_pool *pool, uint32_t provider, size_t *count)
{
    uint32_t first = provider > 0 ? pool->provider_ends[provider - 1] : 0;
    *count = pool->provider_ends[provider] - first;
    return pool->provider_rows + first;
}

uint32_t wt__row_pool_find(const struct row_pool *pool, struct str id)
{
    const uint32_t *row = wt__map_get(&pool->by_id, id);
    return row ? *row : pool->rows;
}
