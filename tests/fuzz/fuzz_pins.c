/* Fuzzes files of pins. In an accepted file, each pin with an id must be found by its id, and each other pin by its
 * provider as a pin of instructions. A rejected file must give a message. The bytes are also used as the definition of
 * a tool, once in each of two formats. The pin of this tool is written and read back. */
#include <stdint.h>
#include <stdlib.h>

#include "catalog/pins.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pin_and_read(struct str definition, const char *format)
{
    struct pins pins = {0};
    struct buffer text = {0};
    char sha256[DEFINITION_DIGITS + 1];
    json_t *members;
    const struct tool tool = {
        .provider = STR("p"), .definition = definition, .schema = definition, .format = wt__str(format)};
    wt__pins_begin(&text);
    require(wt__pins_add(&text, STR("p/tool"), &tool, NULL) == 0);
    require(wt__pins_read(&pins, text.ptr, text.len, NULL) == 0 && pins.count == 1);
    const struct pin *pin = wt__pins_find(&pins, STR("p/tool"));
    require(pin && wt__str_equal(pin->provider, STR("p")));
    require(wt__tool_hash(&tool, sha256, &members, NULL) == 0 && !wt__is_partial_hash(&tool, members));
    require(strcmp(sha256, pin->sha256) == 0 && json_equal(members, pin->members));
    json_decref(members);
    wt__pins_dispose(&pins);
    wt__buffer_dispose(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pins pins = {0};
    wt_error err = {0};
    int rc = wt__pins_read(&pins, (const char *)data, size, &err);
    require(rc == 0 || (rc == WT_EFORMAT && err.message[0] && err.code == rc));
    for (size_t i = 0; rc == 0 && i < pins.count; i++)
        require(pins.items[i].id.len > 0 ? wt__pins_find(&pins, pins.items[i].id) == &pins.items[i]
                                         : wt__pins_instructions(&pins, pins.items[i].provider) == &pins.items[i]);
    wt__pins_dispose(&pins);
    pin_and_read((struct str){(const char *)data, size}, "mcp");
    pin_and_read((struct str){(const char *)data, size}, "openapi");
    return 0;
}
