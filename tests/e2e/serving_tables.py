"""serving_tables.py: the tables of docs/serving.md, from what the server says of itself.

    serving_tables.py OPENAPI PAGE [--write]

Says "same" when the page has them; with --write it gets them."""
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
