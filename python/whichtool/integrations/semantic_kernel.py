"""Semantic Kernel: the choice of functions for a request.

from whichtool.integrations.semantic_kernel import FunctionSelection

selection = FunctionSelection(kernel, k=5)
settings.function_choice_behavior = selection.behavior(request)
"""

from __future__ import annotations

from typing import Any

from ._select import Selector, need_version

need_version("semantic-kernel", "1.0")

from semantic_kernel import Kernel  # noqa: E402
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior  # noqa: E402
from semantic_kernel.functions import KernelFunctionMetadata  # noqa: E402


class FunctionSelection:
    """Selects functions of a kernel. options: those of Selector, such as k and catalogue."""

    def __init__(self, kernel: Kernel, **options: Any) -> None:
        self._kernel = kernel
        self._selector: Selector[KernelFunctionMetadata] = Selector(
            name=lambda function: function.fully_qualified_name, describe=_definition_of, **options
        )

    def behavior(self, request: str, **options: Any) -> FunctionChoiceBehavior:
        """Returns a behavior that offers the functions which the request needs. options: those of
        FunctionChoiceBehavior.Auto."""
        functions = self._selector.select(request, self._kernel.get_full_list_of_function_metadata())
        names = [function.fully_qualified_name for function in functions]
        return FunctionChoiceBehavior.Auto(filters={"included_functions": names}, **options)


def _definition_of(function: KernelFunctionMetadata) -> dict[str, Any]:
    properties = {parameter.name: parameter.schema_data or {} for parameter in function.parameters}
    required = [parameter.name for parameter in function.parameters if parameter.is_required]
    return {
        "name": function.fully_qualified_name,
        "description": function.description or "",
        "parameters": {"type": "object", "properties": properties, "required": required},
    }
