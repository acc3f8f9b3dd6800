/* script_server.h: servers that are shell scripts, with faults added by tests. */
#ifndef WT_TESTS_GATEWAY_SCRIPT_SERVER_H
#define WT_TESTS_GATEWAY_SCRIPT_SERVER_H

#include "base/buffer.h"
#include "mcp/server.h"

/* A legacy server. Scripts may change $CAPABILITIES, $TOOLS, $PROMPTS, $RESOURCES and $TEMPLATES, and the function
 * `call`. `call` answers a tools/call: $id is the id of the request, $r its text. $0 is a folder for files of the
 * server. */
static const char prelude[] =
    "result() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$1\" \"$2\"; }\n"
    "text() { result $id '{\"content\":[{\"type\":\"text\",\"text\":\"'\"$1\"'\"}]}'; }\n"
    "error() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":%s}\\n' \"$id\" \"$1\"; }\n"
    "note() { printf '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\"}\\n' \"$1\"; }\n"
    "tool() { printf '{\"name\":\"%s\",\"description\":\"%s\",\"inputSchema\":{\"type\":\"object\"}%s}' \"$1\" \"$2\" "
    "\"$3\"; }\n"
    "call() { text fine; }\n"
    "TOOLS=$(tool t 'does a zanzibar thing')\n"
    "CAPABILITIES='\"tools\":{}'; PROMPTS=; RESOURCES=; TEMPLATES=\n"
    "serve() { while read -r r; do id=${r#*'\"id\":'}; id=${id%%,*}\n"
    "case \"$r\" in *'\"server/discover\"'*) error '{\"code\":-32601,\"message\":\"what\"}';;\n"
    "*'\"initialize\"'*) result $id "
    "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{'\"$CAPABILITIES\"'}}';;\n"
    "*'\"prompts/list\"'*) result $id \"{\\\"prompts\\\":[$PROMPTS]}\";;\n"
    "*'\"resources/list\"'*) result $id \"{\\\"resources\\\":[$RESOURCES]}\";;\n"
    "*'\"resources/templates/list\"'*) result $id \"{\\\"resourceTemplates\\\":[$TEMPLATES]}\";;\n"
    "*'\"prompts/get\"'*) result $id "
    "'{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"got\"}}]}';;\n"
    "*'\"resources/read\"'*) result $id '{\"contents\":[{\"uri\":\"x:a\",\"text\":\"got\"}]}';;\n"
    "*'\"tools/list\"'*) result $id \"{\\\"tools\\\":[$TOOLS]}\";;\n"
    "*'\"tools/call\"'*) call;; esac; done; }\n";

static char folder[64];

/* Returns a server that runs the script. at: 0 or 1. The server is valid until the next call with the same `at`. */
static inline struct mcp_server script_server(const char *name, const char *script, size_t at)
{
    static struct buffer texts[2];
    static const char *words[2][5];
    wt__buffer_clear(&texts[at]);
    wt__buffer_printf(&texts[at], "%s%s", prelude, script);
    const char *argv[] = {"sh", "-c", texts[at].ptr, folder, NULL};
    memcpy(words[at], argv, sizeof argv);
    return (struct mcp_server){.name = name, .argv = words[at]};
}

#endif
