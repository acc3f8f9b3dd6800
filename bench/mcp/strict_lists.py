"""Validates lists of MCP against the schemas of the revisions 2025-11-25 (legacy) and 2026-07-28 (modern), whose violation
makes a strict client reject the whole list.
"""
TEXT, NUMBER, FLAG, OBJECT = {"type": str}, {"type": (int, float)}, {"type": bool}, {"type": dict}
TEXTS = {"type": list, "items": TEXT}
ICONS = {"type": list, "items": {"type": dict, "needs": ("src",), "members": {
    "src": TEXT, "mimeType": TEXT, "sizes": TEXTS, "theme": {"type": str, "values": ("light", "dark")}}}}
NAMED = {"name": TEXT, "title": TEXT, "description": TEXT, "icons": ICONS, "_meta": OBJECT}
HINTS = {"type": dict, "members": {"title": TEXT, "readOnlyHint": FLAG, "destructiveHint": FLAG, "idempotentHint": FLAG,
                                   "openWorldHint": FLAG}}
ANNOTATIONS = {"type": dict, "members": {
    "audience": {"type": list, "items": {"type": str, "values": ("user", "assistant")}}, "priority": NUMBER,
    "lastModified": TEXT}}
ROOT = {"$schema": TEXT, "type": {"type": str, "values": ("object",)}}
LEGACY_SCHEMA = {"type": dict, "needs": ("type",), "members": ROOT | {
    "properties": {"type": dict, "each": OBJECT}, "required": TEXTS}}
RESOURCE = NAMED | {"mimeType": TEXT, "annotations": ANNOTATIONS}
SHARED = {
    "resources": {"type": dict, "needs": ("uri", "name"), "members": RESOURCE | {"uri": TEXT, "size": NUMBER}},
    "resourceTemplates": {"type": dict, "needs": ("uriTemplate", "name"), "members": RESOURCE | {"uriTemplate": TEXT}},
    "prompts": {"type": dict, "needs": ("name",), "members": NAMED | {"arguments": {"type": list, "items": {
        "type": dict, "needs": ("name",),
        "members": {"name": TEXT, "title": TEXT, "description": TEXT, "required": FLAG}}}}},
}
EXECUTION = {"type": dict, "members": {"taskSupport": {"type": str, "values": ("forbidden", "optional", "required")}}}
ITEMS = {
    "legacy": SHARED | {"tools": {"type": dict, "needs": ("name", "inputSchema"), "members": NAMED | {
        "inputSchema": LEGACY_SCHEMA, "outputSchema": LEGACY_SCHEMA, "annotations": HINTS, "execution": EXECUTION}}},
    "modern": SHARED | {"tools": {"type": dict, "needs": ("name", "inputSchema"), "members": NAMED | {
        "inputSchema": {"type": dict, "needs": ("type",), "members": ROOT},
        "outputSchema": {"type": dict, "members": {"$schema": TEXT}}, "annotations": HINTS}}},
}
RESULTS = {
    "legacy": {"type": dict, "members": {"nextCursor": TEXT, "_meta": OBJECT}},
    "modern": {"type": dict, "needs": ("resultType", "ttlMs", "cacheScope"), "members": {
        "nextCursor": TEXT, "_meta": OBJECT, "resultType": {"type": str, "values": ("complete",)}, "ttlMs": NUMBER,
        "cacheScope": {"type": str, "values": ("public", "private")}}},
}


def find_misfits(value, shape, pointer=""):
    """Yields "POINTER: complaint" for each part of the value that violates the shape."""
    if not isinstance(value, shape["type"]) or (isinstance(value, bool) and shape["type"] is not bool):
        yield f"{pointer or '/'}: {type(value).__name__}"
        return
    if "values" in shape and value not in shape["values"]:
        yield f"{pointer}: {value!r}"
    for name in shape.get("needs", ()):
        if name not in value:
            yield f"{pointer}/{name}: missing"
    if isinstance(value, dict):
        for name, member in value.items():
            wanted = shape.get("members", {}).get(name) or shape.get("each")
            if wanted:
                yield from find_misfits(member, wanted, f"{pointer}/{name}")
    if isinstance(value, list) and "items" in shape:
        for i, item in enumerate(value):
            yield from find_misfits(item, shape["items"], f"{pointer}/{i}")


def check_result(result, member, era):
    """Yields (item or None, complaint): None for a complaint about the result as a whole."""
    for complaint in find_misfits(result, RESULTS[era]):
        yield None, complaint
    items = result.get(member) if isinstance(result, dict) else None
    if not isinstance(items, list):
        yield None, f"/{member}: no list"
        return
    for item in items:
        for complaint in find_misfits(item, ITEMS[era][member]):
            yield item, f"{member}: {complaint}"
