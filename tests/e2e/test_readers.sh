#!/bin/bash
# Tools read from documentation: a Python package's reference, which is not executed, and AWS service models.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_python
readers=$source_root/readers

read_by() { # NAME CODE READER ARGUMENT...: writes its lines to out
    local want=$2 code
    what=$1
    checks=$((checks + 1))
    "$python" -B "$readers/$3" "${@:4}" >out 2>err
    code=$?
    [ "$code" = "$want" ] || fail "exit $code, wanted $want"
}
tools_of() { # FIELD: prints the field of each line of out
    "$python" -c 'import json, sys; print(*[json.loads(line)[sys.argv[1]] for line in sys.stdin], sep="\n")' "$1" <out
}

mkdir -p shapes/inner shapes/_private
cat >shapes/__init__.py <<'PYTHON'
import os
from ._private.areas import area, Circle, LIMIT, ShapeError
from . import inner
from .inner import turn as turned
open(os.environ.get("RAN", os.devnull), "w").write("ran")
def hidden_from_all(): "not public"
loaded = lambda: None
loaded.__doc__ = """Load shapes, as only the running package can say."""
PYTHON
cat >shapes/__init__.pyi <<'PYTHON'
from typing import Callable, Final
from ._private.areas import area, Circle, LIMIT, ShapeError
from . import inner
turned = inner.turn
loaded: Callable[[], None]
version: Final[str]
__all__ = ["area", "Circle", "LIMIT", "ShapeError", "inner", "turned", "loaded", "version"]
PYTHON
cat >shapes/_private/__init__.py </dev/null
cat >shapes/_private/areas.py <<'PYTHON'
LIMIT = 5
class ShapeError(ValueError):
    """No shape."""
class Shape:
    def scale(self, by):
        """Make it larger.

        Parameters
        ----------
        by : float
            How much.
        """
    enlarge = scale
class Circle(Shape):
    """A round shape."""
    @property
    def radius(self):
        """Half of the diameter."""
    def _secret(self): ...
def area(shape, unit="m", *, digits=None):
    """
    area(shape, unit)

    Compute the area of a shape.

    It is :func:`~shapes.inner.turn`-invariant.

    Parameters
    ----------
    shape : array_like
        The shape's corners.
    unit : {'m', 'cm'}, optional
        What it is measured in.
    digits : int, default None
        Digits that are kept.

    Returns
    -------
    float
    """
PYTHON
cat >shapes/inner/__init__.py <<'PYTHON'
"""Turning."""
__all__ = ["turn"]
def turn(shape, degrees):
    """Turn a shape."""
PYTHON
echo 'def broken(:' >shapes/broken_newdocs.py

RAN=$work/ran read_by "a package that is not run" 0 python_api.py shapes
same "public functions and classes" "area Circle turned loaded turn" "$(tools_of name | tr '\n' ' ' | sed 's/ $//')"
same "modules" "shapes shapes.inner" "$(tools_of provider | uniq | tr '\n' ' ' | sed 's/ $//')"
same "its code was not run" "no" "$([ -e ran ] && echo yes || echo no)"
says "broken_newdocs.py is skipped"
same "what the docstring says" "Compute the area of a shape. It is turn-invariant." "$(tools_of description | sed -n 1p)"
same "parameters" '{"digits": "integer", "shape": null, "unit": ["m", "cm"]} ["shape"]' "$("$python" -c '
import json, sys
schema = json.loads(sys.stdin.readline())["parameters"]
print(json.dumps({k: v.get("type", v.get("enum")) for k, v in sorted(schema["properties"].items())}),
      json.dumps(schema["required"]))' <out)"
cp out shapes.jsonl
expect 0 "what was read is added" add --no-vectors shapes.jsonl
expect 0 "and found" find --recipe bm25 "area of a shape"
prints "shapes/area"

read_by "methods" 0 python_api.py shapes --methods --module shapes
same "inherited ones and second names, too" "Circle.radius Circle.scale Circle.enlarge" \
    "$(tools_of name | grep '\.' | tr '\n' ' ' | sed 's/ $//')"
read_by "exclude" 0 python_api.py shapes --exclude 'shapes.inner*' --exclude '*.area'
same "left" "Circle turned loaded" "$(tools_of name | tr '\n' ' ' | sed 's/ $//')"
RAN=$work/ran read_by "a package that is run" 0 python_api.py shapes --import --module shapes
same "it was run" "yes" "$([ -e ran ] && echo yes || echo no)"
same "what its sources lack" "Load shapes, as only the running package can say." "$(tools_of description | tail -1)"
read_by "no such package" 1 python_api.py no_such_package
says "no_such_package is no package that is installed here"
read_by "no such module" 1 python_api.py shapes --module shapes.outer
says "there is no module shapes.outer"

cat >service-2.json <<'JSON'
{"metadata": {"serviceId": "Deep Thought"},
 "operations": {
  "DescribeDBAnswers": {"input": {"shape": "In"}, "documentation": "<p>Describes <code>answers</code> &amp; questions.</p>"},
  "ListACLs": {"documentation": null}},
 "shapes": {
  "In": {"type": "structure", "required": ["Id"], "members": {
    "Id": {"shape": "Text", "documentation": "<p>Which one.</p>"}, "Kind": {"shape": "Kind"}, "Tree": {"shape": "Tree"}}},
  "Text": {"type": "string", "min": 1, "max": 64},
  "Kind": {"type": "string", "enum": ["long", "short"]},
  "Tree": {"type": "list", "max": 3, "member": {"shape": "Node"}},
  "Node": {"type": "structure", "members": {"Children": {"shape": "Tree"}}}}}
JSON
read_by "a service model" 0 aws_api.py service-2.json
same "names" "describe_db_answers list_acls" "$(tools_of name | tr '\n' ' ' | sed 's/ $//')"
same "its provider" "deep-thought" "$(tools_of provider | sed -n 1p)"
same "its words" "Describes answers & questions." "$(tools_of description | sed -n 1p)"
same "its arguments" '{"Id": {"description": "Which one.", "maxLength": 64, "minLength": 1, "type": "string"}, "Kind": {"enum": ["long", "short"], "type": "string"}, "Tree": {"items": {"properties": {"Children": {}}, "required": [], "type": "object"}, "maxItems": 3, "type": "array"}}' \
    "$("$python" -c 'import json, sys; print(json.dumps(json.loads(sys.stdin.readline())["parameters"]["properties"], sort_keys=True))' <out)"
gzip -c service-2.json >service-2.json.gz
read_by "a compressed one" 0 aws_api.py service-2.json.gz
same "the same tools" "describe_db_answers list_acls" "$(tools_of name | tr '\n' ' ' | sed 's/ $//')"
echo '{"operations": 1}' >wrong.json
read_by "no service model" 1 aws_api.py wrong.json
says "wrong.json is not a service model"
read_by "nothing named" 1 aws_api.py
says "AWS service models"
finish
