/* Fuzzes files of tenants. An accepted file must find each of its selections again in the table of the same text, and
 * must decide about any tool without a fault. A rejected file must give a message. */
#include <stdint.h>
#include <stdlib.h>

#include "require.h"
#include "tenants/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct tenant_table *table, *again;
    wt_error err = {0};
    int rc = wt__tenant_table_parse(&table, text, "file", &err);
    require(rc == 0 || ((rc == WT_EFORMAT || rc == WT_ETOOLONG) && err.message[0] && err.code == rc));
    if (rc < 0)
        return 0;
    require(wt__tenant_table_parse(&again, text, "file", &err) == 0);
    for (size_t i = 0; i < table->selection_count; i++) {
        require(wt__tenant_same_selection(again, table, table->selections[i]) == (int64_t)i);
        wt__tenant_selects(table, table->selections[i], STR("github"), text);
        if (wt__tenant_selects_provider(table, table->selections[i], STR("github")))
            require(wt__tenant_selects(table, table->selections[i], STR("github"), STR("get_issue")));
    }
    wt__tenant_table_release(table);
    wt__tenant_table_release(again);
    return 0;
}
