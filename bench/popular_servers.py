#!/usr/bin/env python3
"""Compares popular MCP servers of npm and PyPI directly and through the gateway: lists must be identical, and calls that
need no account must have the same result.

    python3 bench/popular_servers.py WHICHTOOL [--npm FOLDER] [--pypi FOLDER] [--only NAME]

FOLDER of npm has node_modules with the packages below; FOLDER of PyPI has a virtual environment for each package:

    npm i --prefix FOLDER --ignore-scripts PACKAGE...
    python3 -m venv FOLDER/PACKAGE && FOLDER/PACKAGE/bin/pip install PACKAGE     # mcp-server-sqlite: with "mcp<2",
                                                              # markitdown-mcp==0.0.1a4: with "pydantic<2.11"

Packages that are not installed, or whose server does not start directly either, are skipped and reported. Keys are fake,
so no data is sent to a service. Exits with 1 if a list or a call differs.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

from sdk_matrix import Client, Failed, gateway_command

KEY = "0123456789abcdef0123456789abcdef"
# Registry, package, program, arguments, environment, a call that needs no account.
SERVERS = (
    ("npm", "@upstash/context7-mcp", "context7-mcp", (), {}, None),
    ("npm", "@notionhq/notion-mcp-server", "notion-mcp-server", (), {"NOTION_TOKEN": KEY}, None),
    ("npm", "@modelcontextprotocol/server-github", "mcp-server-github", (), {"GITHUB_PERSONAL_ACCESS_TOKEN": KEY}, None),
    ("npm", "@modelcontextprotocol/server-slack", "mcp-server-slack", (), {"SLACK_BOT_TOKEN": KEY, "SLACK_TEAM_ID": "T0"}, None),
    ("npm", "mcp-server-kubernetes", "mcp-server-kubernetes", (), {}, ("ping", {})),
    ("npm", "firecrawl-mcp", "firecrawl-mcp", (), {"FIRECRAWL_API_KEY": KEY}, None),
    ("npm", "tavily-mcp", "tavily-mcp", (), {"TAVILY_API_KEY": KEY}, None),
    ("npm", "exa-mcp-server", "exa-mcp-server", (), {"EXA_API_KEY": KEY}, None),
    ("npm", "@sentry/mcp-server", "sentry-mcp", ("--access-token", KEY), {}, None),
    ("npm", "mongodb-mcp-server", "mongodb-mcp-server", (), {"MDB_MCP_TELEMETRY": "disabled"}, None),
    ("npm", "chrome-devtools-mcp", "chrome-devtools-mcp", ("--no-usage-statistics",), {}, None),
    ("npm", "@wonderwhy-er/desktop-commander", "desktop-commander", (), {}, None),
    ("npm", "figma-developer-mcp", "figma-developer-mcp", ("--stdio", f"--figma-api-key={KEY}"), {}, None),
    ("npm", "@brave/brave-search-mcp-server", "brave-search-mcp-server", (), {"BRAVE_API_KEY": KEY}, None),
    ("npm", "mcp-server-code-runner", "mcp-server-code-runner", (), {},
     ("run-code", {"code": "console.log(6 * 7)", "languageId": "javascript"})),
    ("pypi", "mcp-server-sqlite", "mcp-server-sqlite", ("--db-path", "{folder}/one.db"), {},
     ("read_query", {"query": "select 6 * 7 as answer"})),
    ("pypi", "markitdown-mcp", "markitdown-mcp", (), {}, ("convert_to_markdown", {"uri": "data:text/plain,hello"})),
    ("pypi", "duckduckgo-mcp-server", "duckduckgo-mcp-server", (), {}, None),
    ("pypi", "wikipedia-mcp", "wikipedia-mcp", (), {}, None),
    ("pypi", "mcp-yahoo-finance", "mcp-yahoo-finance", (), {}, None),
    ("pypi", "mcp-server-calculator", "mcp-server-calculator", (), {}, ("calculate", {"expression": "6 * 7"})),
    ("pypi", "awslabs.aws-documentation-mcp-server", "awslabs.aws-documentation-mcp-server", (), {}, None),
    ("pypi", "mcp-atlassian", "mcp-atlassian", (),
     {"JIRA_URL": "http://127.0.0.1:1", "JIRA_USERNAME": "a", "JIRA_API_TOKEN": KEY}, None),
    ("pypi", "mcp-obsidian", "mcp-obsidian", (), {"OBSIDIAN_API_KEY": KEY}, None),
    ("pypi", "elevenlabs-mcp", "elevenlabs-mcp", (), {"ELEVENLABS_API_KEY": KEY}, None),
)
LISTS = (("tools/list", "tools"), ("resources/list", "resources"), ("prompts/list", "prompts"))


def read_lists(client):
    """Returns the items of each list, read page by page; a missing list is empty."""
    found = {}
    for method, member in LISTS:
        items, cursor = [], None
        try:
            while True:
                result = client.request(method, {"cursor": cursor} if cursor else {})
                items += result[member]
                cursor = result.get("nextCursor")
                if not cursor:
                    break
        except Failed:
            pass
        found[member] = items
    return found


def ask(command, call, environment):
    os.environ.update(environment, PYTHONHASHSEED="0")  # mcp-atlassian writes sets into its schemas
    client = Client(command, "legacy")
    try:
        lists = read_lists(client)
        said = None
        if call and call[0] in [tool["name"] for tool in lists["tools"]]:
            said = client.request("tools/call", {"name": call[0], "arguments": call[1]})
            said = {"content": said["content"], "isError": said.get("isError", False)}
        return lists, said
    finally:
        client.close()


def differing(direct, through):
    """Returns the names of different items for each list."""
    names = []
    for _, member in LISTS:
        key = "uri" if member == "resources" else "name"
        ours = {item[key]: item for item in through[member]}
        theirs = {item[key]: item for item in direct[member]}
        names += [f"{member} {name}" for name in sorted(ours.keys() | theirs.keys()) if ours.get(name) != theirs.get(name)]
    return names


def find_program(options, registry, package, program):
    if registry == "npm":
        return options.npm / "node_modules" / ".bin" / program if options.npm else None
    return options.pypi / package / "bin" / program if options.pypi else None


def measure(options, row, folder):
    """Returns a row of the table and True if it passed; None if the server does not start directly."""
    registry, package, program, arguments, environment, call = row
    command = [str(find_program(options, registry, package, program)), *(a.format(folder=folder) for a in arguments)]
    environment = {name: value.format(folder=folder) for name, value in environment.items()}
    direct, said = ask(command, call, environment)
    gateway = gateway_command(options.whichtool, folder, command)
    configuration = folder / "servers.json"
    entry = json.loads(configuration.read_text())
    entry["mcpServers"]["sdk"]["env"] = environment | {"PYTHONHASHSEED": "0"}
    configuration.write_text(json.dumps(entry))
    through, said_through = ask(gateway, call, {})
    wrong = differing(direct, through)
    for name in wrong[:5]:
        print(f"{package}: {name} differs", file=sys.stderr)
    if said != said_through:
        print(f"{package}: {call[0]}: {said} directly, {said_through} through the gateway", file=sys.stderr)
    counts = " | ".join(str(len(direct[member])) for _, member in LISTS)
    called = "" if said is None else "same" if said == said_through else "differs"
    print(f"| {package} | {counts} | {'identical' if not wrong else f'{len(wrong)} differ'} | {called} |", flush=True)
    return not wrong and said == said_through


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("whichtool", type=os.path.abspath)
    parser.add_argument("--npm", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--pypi", type=lambda path: pathlib.Path(path).absolute())
    parser.add_argument("--only")
    options = parser.parse_args()
    print("| server | tools | resources | prompts | lists | call |\n|---|---|---|---|---|---|")
    good, left_out = True, []
    for row in SERVERS:
        path = find_program(options, *row[:3])
        if options.only and options.only != row[1]:
            continue
        if not path or not path.exists():
            left_out.append(f"{row[1]}: not installed")
            continue
        with tempfile.TemporaryDirectory() as name:
            try:
                good &= measure(options, row, pathlib.Path(name))
            except Failed as error:
                left_out.append(f"{row[1]}: {error}")
    for line in left_out:
        print(f"left out: {line}", file=sys.stderr)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
