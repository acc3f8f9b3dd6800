#!/usr/bin/env python3
"""Converts the AWS service models of botocore to tools, one JSON object a line, for `whichtool add -`.

    python3 readers/aws_api.py SERVICE... | whichtool add -

    SERVICE    name of a service (ec2, s3) of the installed botocore, in its newest version; or a service-2.json,
               also with .gz

The provider is the service, and a tool has the name of the method of boto3's client. Arguments are JSON Schema with
expanded shapes. Recursive shapes, and values beyond a depth of 6 or a count of 400, allow any value.
"""
import glob
import gzip
import html
import importlib.util
import json
import os
import re
import sys

DEPTH_MOST, VALUES_MOST = 6, 400
DESCRIPTION_BYTES_MOST = 4000
TYPES = {"string": "string", "character": "string", "timestamp": "string", "blob": "string", "integer": "integer",
         "long": "integer", "float": "number", "double": "number", "boolean": "boolean"}
BOUNDS = {"string": ("minLength", "maxLength"), "list": ("minItems", "maxItems")}


def model_of(service):
    if os.path.isfile(service):
        path = service
    else:
        found = importlib.util.find_spec("botocore")
        if not found:
            sys.exit("botocore is not installed here; name a service-2.json of it instead")
        folder = os.path.join(os.path.dirname(found.origin), "data", glob.escape(os.path.basename(service)))
        paths = sorted(glob.glob(os.path.join(folder, "*", "service-2.json*")))
        if not paths:
            sys.exit(f"botocore has no service {service}; its folder data/ has their names")
        path = paths[-1]
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8") as file:
            model = json.load(file)
        return model["operations"], model["shapes"], model["metadata"]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as why:
        sys.exit(f"{path} is not a service model: {why!r}")


def text_of(documentation):
    text = html.unescape(re.sub(r"<[^>]+>", " ", documentation or ""))
    return re.sub(r"\s+", " ", text).strip().encode()[:DESCRIPTION_BYTES_MOST].decode(errors="ignore")


def method_name(operation):
    """Converts a name to snake case: describe_db_instances, list_objects_v2, describe_acls (from DescribeACLs)."""
    name = re.sub(r"([A-Z]{2,}s)(?![a-z])", lambda m: "_" + m[1].lower(), operation)
    name = re.sub(r"([A-Z]+)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z\d])([A-Z])", r"\1_\2", name).lower().lstrip("_")


class Shapes:
    def __init__(self, shapes):
        self.shapes, self.open, self.values = shapes, [], 0

    def schema(self, reference):
        """Returns the JSON Schema of {"shape": NAME, "documentation": ...}."""
        name = reference.get("shape")
        shape = self.shapes.get(name)
        about = text_of(reference.get("documentation") or (shape or {}).get("documentation"))
        out = {"description": about} if about else {}
        self.values += 1
        if not shape or name in self.open or len(self.open) >= DEPTH_MOST or self.values > VALUES_MOST:
            return out
        self.open.append(name)
        out.update(self.written_out(shape))
        self.open.pop()
        return out

    def written_out(self, shape):
        what = shape.get("type")
        out = {}
        if what == "structure":
            out = {"type": "object",
                   "properties": {n: self.schema(m) for n, m in shape.get("members", {}).items()},
                   "required": shape.get("required", [])}
        elif what == "list":
            out = {"type": "array", "items": self.schema(shape.get("member", {}))}
        elif what == "map":
            out = {"type": "object", "additionalProperties": self.schema(shape.get("value", {}))}
        elif what in TYPES:
            out = {"type": TYPES[what]}
        if "enum" in shape:
            out["enum"] = shape["enum"]
        for bound, keyword in zip(("min", "max"), BOUNDS.get(what, ("minimum", "maximum"))):
            if isinstance(shape.get(bound), (int, float)) and what in ("string", "list", "integer", "long", "float"):
                out[keyword] = shape[bound]
        return out


def tools_of(service):
    operations, shapes, metadata = model_of(service)
    provider = metadata.get("serviceId", service).lower().replace(" ", "-")
    for name, operation in operations.items():
        parameters = Shapes(shapes).schema(operation.get("input", {}))
        parameters.pop("description", None)
        yield {"provider": provider, "name": method_name(name), "description": text_of(operation.get("documentation")),
               "parameters": parameters or {"type": "object", "properties": {}}}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    try:
        for service in sys.argv[1:]:
            for tool in tools_of(service):
                print(json.dumps(tool))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
