"""Makes definitions of tools from Python objects: functions, pydantic models, and definitions of other libraries."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

_SIMPLE: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}

# Where tool objects of libraries keep their schema; LangChain's first one omits the arguments that it injects.
_SCHEMA_MEMBERS = (
    "tool_call_schema",
    "args_schema",
    "parameters_json_schema",
    "params_json_schema",
    "input_schema",
    "inputSchema",
    "parameters",
)


def schema_of(kind: Any) -> dict[str, Any]:
    """Returns a JSON Schema for a type. An unknown type gives {}, which accepts any value."""
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if hasattr(kind, "model_json_schema"):
        return kind.model_json_schema()
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (list, set, tuple, frozenset) or kind in (set, tuple, frozenset):
        return {"type": "array", "items": schema_of(arguments[0])} if arguments else {"type": "array"}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])} if arguments else {"type": "object"}
    if origin is Union or type(kind).__name__ == "UnionType":
        return {"anyOf": [schema_of(one) for one in arguments]}
    if inspect.isclass(kind) and hasattr(kind, "__members__"):  # an enum
        return {"enum": [one.value for one in cast("Iterable[Any]", kind)]}
    return {}


def definition_of_function(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the definition of a function: its name, its docstring, and a schema from its annotations."""
    name, description = function.__name__, inspect.getdoc(function) or ""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions of C modules have none
        return {"name": name, "description": description, "parameters": {"type": "object"}}
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):  # annotations that cannot be resolved
        hints = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for argument, parameter in signature.parameters.items():
        if argument in ("self", "cls") or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        properties[argument] = schema_of(hints.get(argument, Any))
        if parameter.default is parameter.empty:
            required.append(argument)
        elif isinstance(parameter.default, (str, int, float, bool)):
            properties[argument]["default"] = parameter.default
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "parameters": parameters}


def definition_of(tool: Any) -> Any:
    """Returns the definition of a function, of a pydantic model, or of a tool object with `name` and `description`,
    such as those of LangChain and LlamaIndex. Returns other values unchanged."""
    if isinstance(tool, (Mapping, str)):
        return cast("Any", tool)
    if inspect.isclass(tool) and hasattr(tool, "model_json_schema"):
        return {
            "name": tool.__name__,
            "description": inspect.getdoc(tool) or "",
            "parameters": cast("Any", tool).model_json_schema(),
        }
    if callable(tool) and hasattr(tool, "__name__"):
        return definition_of_function(tool)
    name, description = getattr(tool, "name", None), getattr(tool, "description", None)
    if isinstance(name, str):
        schemas: list[Any] = [getattr(tool, member, None) for member in _SCHEMA_MEMBERS]
        schema = next((found for found in schemas if found is not None), cast("Any", {}))
        if hasattr(schema, "model_json_schema"):
            schema = schema.model_json_schema()
        return {"name": name, "description": description or "", "parameters": schema}
    raise TypeError(f"{tool!r} is not a tool: give a definition, a function, or a pydantic model")


def source_of(tools: Any) -> str:
    """Returns the JSON text of tools: a mapping, or an iterable of definitions, functions and models."""
    if isinstance(tools, Mapping):
        return json.dumps(tools)
    if isinstance(tools, Iterable):
        return json.dumps([definition_of(tool) for tool in cast("Iterable[Any]", tools)])
    return json.dumps([definition_of(tools)])
