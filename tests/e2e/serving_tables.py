"""serving_tables.py: makes the tables of docs/serving.md from the server's own description.

    serving_tables.py OPENAPI PAGE [--write]

Prints "same" if the page is up to date; --write updates it."""
import json
import re
import sys

document = json.load(open(sys.argv[1]))
page = open(sys.argv[2]).read()


def scope(operation):
    named = re.search(r"scope (\w+)", operation.get("description", ""))
    return f"`{named[1]}`" if named else "none"


routes = ["| | path | key with | what it does |", "|---|---|---|---|"]
for path, operations in document["paths"].items():
    for method, operation in operations.items():
        if "operationId" in operation:
            routes.append(f"| {method.upper()} | `{path}` | {scope(operation)} | {operation['summary']} |")
means = document["components"]["schemas"]["failure"]["properties"]["error"]["properties"]["code"]["x-codes"]
errors = ["| status | code | when |", "|---|---|---|"]
errors += [f"| {code['status']} | `{code['code']}` | {code['means']} |" for code in sorted(means, key=lambda c: c["status"])]
new = page
for name, rows in (("routes", routes), ("errors", errors)):
    new = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + "\n" + "\n".join(rows) + "\n\n" + m[2], new,
                 count=1, flags=re.S)
if "--write" in sys.argv:
    open(sys.argv[2], "w").write(new)
print("same" if new == page else "other")
