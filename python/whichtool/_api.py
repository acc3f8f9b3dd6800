"""The structs and functions of the C library. Written by tools/python-binding; do not edit."""
# ruff: noqa: E501, I001
from __future__ import annotations

from ctypes import (CDLL, CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_float, c_int, c_int64, c_size_t,
                    c_uint, c_uint64, c_void_p)
from typing import Any

VERSION = "0.1.0"

wt_progress_fn = CFUNCTYPE(c_int, c_void_p, c_char_p, c_uint64, c_uint64)
wt_train_progress_fn = CFUNCTYPE(c_int, c_void_p, c_void_p)

# Size of each struct, and offsets of its members, for the tests.
LAYOUT: dict[type[Structure], tuple[int, dict[str, int]]] = {}


class wt_dev_figure(Structure):
    _fields_ = [
        ("set", c_char_p),
        ("value", c_double),
    ]


LAYOUT[wt_dev_figure] = (16, {'set': 0, 'value': 8})


class wt_measurement(Structure):
    _fields_ = [
        ("step", c_uint64),
        ("figure", c_double),
        ("len", c_size_t),
        ("sets", POINTER(wt_dev_figure)),
    ]


LAYOUT[wt_measurement] = (32, {'step': 0, 'figure': 8, 'len': 16, 'sets': 24})


class wt_train_progress(Structure):
    _fields_ = [
        ("lesson", c_char_p),
        ("phase", c_char_p),
        ("done", c_uint64),
        ("total", c_uint64),
        ("loss", c_double),
        ("tokens_per_second", c_double),
        ("best", c_double),
        ("seconds_left", c_double),
        ("measured", POINTER(wt_measurement)),
    ]


LAYOUT[wt_train_progress] = (72, {'lesson': 0, 'phase': 8, 'done': 16, 'total': 24, 'loss': 32, 'tokens_per_second': 40, 'best': 48, 'seconds_left': 56, 'measured': 64})


class wt_add_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_char_p),
        ("provider", c_char_p),
        ("source_name", c_char_p),
        ("sync", c_int),
        ("strict", c_int),
        ("no_vectors", c_int),
        ("progress", wt_progress_fn),
        ("progress_context", c_void_p),
    ]


LAYOUT[wt_add_options] = (64, {'size': 0, 'format': 8, 'provider': 16, 'source_name': 24, 'sync': 32, 'strict': 36, 'no_vectors': 40, 'progress': 48, 'progress_context': 56})


class wt_add_issue(Structure):
    _fields_ = [
        ("file", c_char_p),
        ("line", c_size_t),
        ("byte", c_size_t),
        ("pointer", c_char_p),
        ("reason", c_char_p),
    ]


LAYOUT[wt_add_issue] = (40, {'file': 0, 'line': 8, 'byte': 16, 'pointer': 24, 'reason': 32})


class wt_add_collision(Structure):
    _fields_ = [
        ("id", c_char_p),
        ("taken", c_char_p),
        ("source", c_char_p),
        ("other", c_char_p),
    ]


LAYOUT[wt_add_collision] = (32, {'id': 0, 'taken': 8, 'source': 16, 'other': 24})


class wt_add_report(Structure):
    _fields_ = [
        ("added", c_size_t),
        ("updated", c_size_t),
        ("unchanged", c_size_t),
        ("removed", c_size_t),
        ("skipped", c_size_t),
        ("embedded", c_size_t),
        ("format", c_char_p),
        ("notice", c_char_p),
        ("issue_count", c_size_t),
        ("issues", POINTER(POINTER(wt_add_issue))),
        ("collisions", c_size_t),
        ("collided", POINTER(POINTER(wt_add_collision))),
        ("collided_count", c_size_t),
        ("whole", c_int),
        ("notice_codes", c_uint),
    ]


LAYOUT[wt_add_report] = (112, {'added': 0, 'updated': 8, 'unchanged': 16, 'removed': 24, 'skipped': 32, 'embedded': 40, 'format': 48, 'notice': 56, 'issue_count': 64, 'issues': 72, 'collisions': 80, 'collided': 88, 'collided_count': 96, 'whole': 104, 'notice_codes': 108})


class wt_error(Structure):
    _fields_ = [
        ("code", c_int),
        ("line", c_size_t),
        ("byte", c_size_t),
        ("pointer", c_char * 256),
        ("message", c_char * 1024),
    ]


LAYOUT[wt_error] = (1304, {'code': 0, 'line': 8, 'byte': 16, 'pointer': 24, 'message': 280})


class wt_add_mcp_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("command", POINTER(c_char_p)),
        ("provider", c_char_p),
        ("sync", c_int),
        ("strict", c_int),
        ("no_vectors", c_int),
        ("timeout_ms", c_uint),
        ("progress", wt_progress_fn),
        ("progress_context", c_void_p),
    ]


LAYOUT[wt_add_mcp_options] = (56, {'size': 0, 'command': 8, 'provider': 16, 'sync': 24, 'strict': 28, 'no_vectors': 32, 'timeout_ms': 36, 'progress': 40, 'progress_context': 48})


class wt_mcp_server(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("provider", c_char_p),
        ("disabled", c_int),
        ("code", c_int),
        ("reason", c_char_p),
        ("tools", c_size_t),
        ("added", POINTER(wt_add_report)),
    ]


LAYOUT[wt_mcp_server] = (48, {'name': 0, 'provider': 8, 'disabled': 16, 'code': 20, 'reason': 24, 'tools': 32, 'added': 40})


class wt_mcp_report(Structure):
    _fields_ = [
        ("server_count", c_size_t),
        ("servers", POINTER(POINTER(wt_mcp_server))),
        ("failed", c_size_t),
        ("removed", c_size_t),
        ("embedded", c_size_t),
        ("notice", c_char_p),
    ]


LAYOUT[wt_mcp_report] = (48, {'server_count': 0, 'servers': 8, 'failed': 16, 'removed': 24, 'embedded': 32, 'notice': 40})


class wt_audit_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("provider", c_char_p),
        ("rule_count", c_size_t),
        ("rules", POINTER(c_char_p)),
        ("ignored_count", c_size_t),
        ("ignored", POINTER(c_char_p)),
        ("searches", c_size_t),
        ("seed", c_uint64),
        ("pins", c_char_p),
        ("pins_len", c_size_t),
        ("progress", wt_progress_fn),
        ("progress_context", c_void_p),
        ("pins_file", c_char_p),
    ]


LAYOUT[wt_audit_options] = (104, {'size': 0, 'provider': 8, 'rule_count': 16, 'rules': 24, 'ignored_count': 32, 'ignored': 40, 'searches': 48, 'seed': 56, 'pins': 64, 'pins_len': 72, 'progress': 80, 'progress_context': 88, 'pins_file': 96})


class wt_finding(Structure):
    _fields_ = [
        ("rule", c_char_p),
        ("level", c_int),
        ("tool_count", c_size_t),
        ("tools", POINTER(c_char_p)),
        ("more_tools", c_size_t),
        ("provider", c_char_p),
        ("message", c_char_p),
        ("advice", c_char_p),
        ("figure", c_double),
    ]


LAYOUT[wt_finding] = (72, {'rule': 0, 'level': 8, 'tool_count': 16, 'tools': 24, 'more_tools': 32, 'provider': 40, 'message': 48, 'advice': 56, 'figure': 64})


class wt_audit_cost(Structure):
    _fields_ = [
        ("format", c_char_p),
        ("tokens", c_uint64),
        ("bytes", c_uint64),
        ("largest", c_char_p),
        ("largest_tokens", c_uint64),
    ]


LAYOUT[wt_audit_cost] = (40, {'format': 0, 'tokens': 8, 'bytes': 16, 'largest': 24, 'largest_tokens': 32})


class wt_audit_result(Structure):
    _fields_ = [
        ("finding_count", c_size_t),
        ("findings", POINTER(POINTER(wt_finding))),
        ("errors", c_size_t),
        ("warnings", c_size_t),
        ("notes", c_size_t),
        ("tools", c_size_t),
        ("providers", c_size_t),
        ("made", c_size_t),
        ("recorded", c_size_t),
        ("recipe", c_char_p),
        ("encoder", c_char_p),
        ("cost_count", c_size_t),
        ("costs", POINTER(POINTER(wt_audit_cost))),
        ("notice", c_char_p),
        ("seconds", c_double),
    ]


LAYOUT[wt_audit_result] = (120, {'finding_count': 0, 'findings': 8, 'errors': 16, 'warnings': 24, 'notes': 32, 'tools': 40, 'providers': 48, 'made': 56, 'recorded': 64, 'recipe': 72, 'encoder': 80, 'cost_count': 88, 'costs': 96, 'notice': 104, 'seconds': 112})


class wt_filter(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("providers", POINTER(c_char_p)),
        ("provider_count", c_size_t),
        ("excluded_providers", POINTER(c_char_p)),
        ("excluded_provider_count", c_size_t),
        ("only", POINTER(c_char_p)),
        ("only_count", c_size_t),
        ("excluded", POINTER(c_char_p)),
        ("excluded_count", c_size_t),
        ("condition", c_void_p),
        ("condition_context", c_void_p),
        ("condition_name", c_char_p),
    ]


LAYOUT[wt_filter] = (96, {'size': 0, 'providers': 8, 'provider_count': 16, 'excluded_providers': 24, 'excluded_provider_count': 32, 'only': 40, 'only_count': 48, 'excluded': 56, 'excluded_count': 64, 'condition': 72, 'condition_context': 80, 'condition_name': 88})


class wt_find_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("k", c_size_t),
        ("recipe", c_char_p),
        ("provider", c_char_p),
        ("max_per_provider", c_size_t),
        ("explain", c_int),
        ("abstain", c_double),
        ("copies", c_int),
        ("progress", wt_progress_fn),
        ("progress_context", c_void_p),
        ("time_limit_ms", c_uint),
        ("filter", POINTER(wt_filter)),
        ("max_tokens", c_size_t),
        ("format", c_char_p),
        ("as_typed", c_int),
        ("none_if_unsure", c_int),
        ("messages", c_char_p),
        ("messages_len", c_size_t),
        ("have", POINTER(c_char_p)),
        ("have_count", c_size_t),
    ]


LAYOUT[wt_find_options] = (152, {'size': 0, 'k': 8, 'recipe': 16, 'provider': 24, 'max_per_provider': 32, 'explain': 40, 'abstain': 48, 'copies': 56, 'progress': 64, 'progress_context': 72, 'time_limit_ms': 80, 'filter': 88, 'max_tokens': 96, 'format': 104, 'as_typed': 112, 'none_if_unsure': 116, 'messages': 120, 'messages_len': 128, 'have': 136, 'have_count': 144})


class wt_tool(Structure):
    _fields_ = [
        ("id", c_char_p),
        ("provider", c_char_p),
        ("name", c_char_p),
        ("title", c_char_p),
        ("description", c_char_p),
        ("category", c_char_p),
        ("source_id", c_char_p),
        ("format", c_char_p),
        ("definition", c_char_p),
        ("definition_len", c_size_t),
        ("schema", c_char_p),
        ("sha256", c_char_p),
        ("export_name", c_char_p),
    ]


LAYOUT[wt_tool] = (104, {'id': 0, 'provider': 8, 'name': 16, 'title': 24, 'description': 32, 'category': 40, 'source_id': 48, 'format': 56, 'definition': 64, 'definition_len': 72, 'schema': 80, 'sha256': 88, 'export_name': 96})


class wt_stage_score(Structure):
    _fields_ = [
        ("stage", c_char_p),
        ("rank", c_size_t),
        ("score", c_double),
        ("share", c_double),
        ("weight", c_double),
    ]


LAYOUT[wt_stage_score] = (40, {'stage': 0, 'rank': 8, 'score': 16, 'share': 24, 'weight': 32})


class wt_match(Structure):
    _fields_ = [
        ("word", c_char_p),
        ("fields", c_char_p),
        ("score", c_double),
    ]


LAYOUT[wt_match] = (24, {'word': 0, 'fields': 8, 'score': 16})


class wt_feature_share(Structure):
    _fields_ = [
        ("feature", c_char_p),
        ("value", c_double),
        ("share", c_double),
    ]


LAYOUT[wt_feature_share] = (24, {'feature': 0, 'value': 8, 'share': 16})


class wt_hit(Structure):
    _fields_ = [
        ("tool", POINTER(wt_tool)),
        ("score", c_double),
        ("stage_count", c_size_t),
        ("match_count", c_size_t),
        ("stages", POINTER(POINTER(wt_stage_score))),
        ("matches", POINTER(POINTER(wt_match))),
        ("probability", c_double),
        ("tokens", c_size_t),
        ("weak", c_int),
        ("kept", c_int),
        ("more_like_it", POINTER(c_char_p)),
        ("more_listed", c_size_t),
        ("more_count", c_size_t),
        ("features", POINTER(POINTER(wt_feature_share))),
        ("feature_count", c_size_t),
    ]


LAYOUT[wt_hit] = (112, {'tool': 0, 'score': 8, 'stage_count': 16, 'match_count': 24, 'stages': 32, 'matches': 40, 'probability': 48, 'tokens': 56, 'weak': 64, 'kept': 68, 'more_like_it': 72, 'more_listed': 80, 'more_count': 88, 'features': 96, 'feature_count': 104})


class wt_hits(Structure):
    _fields_ = [
        ("len", c_size_t),
        ("items", POINTER(POINTER(wt_hit))),
        ("recipe", c_char_p),
        ("notice", c_char_p),
        ("encode_ms", c_double),
        ("search_ms", c_double),
        ("total_ms", c_double),
        ("why", c_char_p),
        ("multi_provider_probability", c_double),
        ("no_answer_probability", c_double),
        ("copies", c_size_t),
        ("tokens", c_size_t),
        ("over_budget", c_size_t),
        ("encoder", c_char_p),
        ("better", c_char_p),
        ("read_as", c_char_p),
        ("unknown_words", POINTER(c_char_p)),
        ("unknown_count", c_size_t),
        ("weak", c_size_t),
        ("last_turn", c_char_p),
        ("kept", c_size_t),
        ("notice_codes", c_uint),
    ]


LAYOUT[wt_hits] = (176, {'len': 0, 'items': 8, 'recipe': 16, 'notice': 24, 'encode_ms': 32, 'search_ms': 40, 'total_ms': 48, 'why': 56, 'multi_provider_probability': 64, 'no_answer_probability': 72, 'copies': 80, 'tokens': 88, 'over_budget': 96, 'encoder': 104, 'better': 112, 'read_as': 120, 'unknown_words': 128, 'unknown_count': 136, 'weak': 144, 'last_turn': 152, 'kept': 160, 'notice_codes': 168})


class wt_open_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("read_only", c_int),
        ("model", c_char_p),
        ("models_dir", c_char_p),
        ("threads", c_uint),
        ("busy_ms", c_uint),
        ("trained", c_char_p),
        ("chat_url", c_char_p),
        ("chat_model", c_char_p),
        ("chat_key", c_char_p),
        ("record_path", c_char_p),
        ("replay_path", c_char_p),
        ("chat_at_once", c_uint),
        ("request_cache", c_int),
    ]


LAYOUT[wt_open_options] = (96, {'size': 0, 'read_only': 8, 'model': 16, 'models_dir': 24, 'threads': 32, 'busy_ms': 36, 'trained': 40, 'chat_url': 48, 'chat_model': 56, 'chat_key': 64, 'record_path': 72, 'replay_path': 80, 'chat_at_once': 88, 'request_cache': 92})


class wt_train_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("data", c_char_p),
        ("out", c_char_p),
        ("model", c_char_p),
        ("models_dir", c_char_p),
        ("cache_dir", c_char_p),
        ("threads", c_uint),
        ("seed", c_uint64),
        ("epochs", c_double),
        ("batch", c_size_t),
        ("accumulate", c_size_t),
        ("rate", c_double),
        ("freeze", c_size_t),
        ("loss", c_char_p),
        ("candidates", c_size_t),
        ("precision", c_char_p),
        ("resume", c_int),
        ("memory", c_uint64),
        ("progress", wt_train_progress_fn),
        ("progress_context", c_void_p),
        ("most", c_size_t),
        ("negatives", c_size_t),
        ("fields", c_char_p),
        ("synthetic", c_size_t),
        ("most_of", c_char_p),
        ("join", c_double),
        ("keep_last", c_int),
        ("dev", c_char_p),
        ("dev_tools", c_size_t),
        ("teacher", c_char_p),
        ("siblings", c_size_t),
        ("layers", c_size_t),
    ]


LAYOUT[wt_train_options] = (256, {'size': 0, 'data': 8, 'out': 16, 'model': 24, 'models_dir': 32, 'cache_dir': 40, 'threads': 48, 'seed': 56, 'epochs': 64, 'batch': 72, 'accumulate': 80, 'rate': 88, 'freeze': 96, 'loss': 104, 'candidates': 112, 'precision': 120, 'resume': 128, 'memory': 136, 'progress': 144, 'progress_context': 152, 'most': 160, 'negatives': 168, 'fields': 176, 'synthetic': 184, 'most_of': 192, 'join': 200, 'keep_last': 208, 'dev': 216, 'dev_tools': 224, 'teacher': 232, 'siblings': 240, 'layers': 248})


class wt_trained(Structure):
    _fields_ = [
        ("lesson", c_char_p),
        ("path", c_char_p),
        ("figure", c_char_p),
        ("before", c_double),
        ("after", c_double),
        ("steps", c_uint64),
        ("epochs", c_double),
        ("seconds", c_double),
        ("stopped_early", c_int),
        ("notice", c_char_p),
        ("measurement_count", c_size_t),
        ("measurements", POINTER(POINTER(wt_measurement))),
    ]


LAYOUT[wt_trained] = (96, {'lesson': 0, 'path': 8, 'figure': 16, 'before': 24, 'after': 32, 'steps': 40, 'epochs': 48, 'seconds': 56, 'stopped_early': 64, 'notice': 72, 'measurement_count': 80, 'measurements': 88})


class wt_train_report(Structure):
    _fields_ = [
        ("len", c_size_t),
        ("items", POINTER(POINTER(wt_trained))),
    ]


LAYOUT[wt_train_report] = (16, {'len': 0, 'items': 8})


# Result and parameters of each function.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "wt_add": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(wt_add_options), POINTER(POINTER(wt_add_report)), POINTER(wt_error)]),
    "wt_add_mcp": (c_int, [c_void_p, c_char_p, POINTER(wt_add_mcp_options), POINTER(POINTER(wt_mcp_report)), POINTER(wt_error)]),
    "wt_add_path": (c_int, [c_void_p, c_char_p, POINTER(wt_add_options), POINTER(POINTER(wt_add_report)), POINTER(wt_error)]),
    "wt_add_report_free": (None, [POINTER(wt_add_report)]),
    "wt_audit": (c_int, [c_void_p, POINTER(wt_audit_options), POINTER(POINTER(wt_audit_result)), POINTER(wt_error)]),
    "wt_audit_free": (None, [POINTER(wt_audit_result)]),
    "wt_close": (None, [c_void_p]),
    "wt_code_name": (c_char_p, [c_int]),
    "wt_dimension": (c_int, [c_void_p, POINTER(wt_error)]),
    "wt_embed": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_size_t), c_size_t, POINTER(c_float), POINTER(wt_error)]),
    "wt_embed_documents": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_size_t), c_size_t, POINTER(c_float), POINTER(wt_error)]),
    "wt_embed_missing": (c_int64, [c_void_p, wt_progress_fn, c_void_p, POINTER(wt_error)]),
    "wt_find": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(wt_find_options), POINTER(POINTER(wt_hits)), POINTER(wt_error)]),
    "wt_hits_free": (None, [POINTER(wt_hits)]),
    "wt_json": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(wt_error)]),
    "wt_mcp_report_free": (None, [POINTER(wt_mcp_report)]),
    "wt_open": (c_int, [POINTER(c_void_p), c_char_p, POINTER(wt_open_options), POINTER(wt_error)]),
    "wt_string_free": (None, [c_void_p]),
    "wt_train": (c_int, [c_void_p, c_char_p, POINTER(wt_train_options), POINTER(POINTER(wt_train_report)), POINTER(wt_error)]),
    "wt_train_report_free": (None, [POINTER(wt_train_report)]),
    "wt_version": (c_char_p, []),
}


def declare(library: CDLL) -> None:
    """Sets the types of the functions."""
    for name, (result, parameters) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
