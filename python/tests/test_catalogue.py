"""Tests the package with the built-in encoder. Needs neither a network nor other packages."""

import asyncio
import ctypes
import doctest
import enum
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
import unittest.mock

import whichtool
from whichtool import _api, definitions

BUILT_IN = "whichtool-static-v1"


def get_weather(city: str, days: int = 1) -> str:
    """Weather forecast of a city for the coming days."""


def book_table(restaurant: str, people: int) -> str:
    """Reserve a table in a restaurant."""


class Place(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "tools.wt"
        self.catalogue = whichtool.Catalogue(self.path, model=BUILT_IN)
        self.addCleanup(self.catalogue.close)
        self.catalogue.add([get_weather, book_table])


class Structs(unittest.TestCase):
    def test_function_without_signature(self) -> None:
        from whichtool.definitions import definition_of

        with unittest.mock.patch("inspect.signature", side_effect=ValueError("no signature found")):
            definition = definition_of(max)
        self.assertEqual((definition["name"], definition["parameters"]), ("max", {"type": "object"}))

    def test_layout_is_that_of_the_headers(self):
        for kind, (size, offsets) in _api.LAYOUT.items():
            self.assertEqual(ctypes.sizeof(kind), size, kind)
            for member, offset in offsets.items():
                self.assertEqual(getattr(kind, member).offset, offset, (kind, member))

    def test_docstrings_are_right(self):
        for name in ("whichtool", "whichtool.catalogue"):
            failed, attempted = doctest.testmod(importlib.import_module(name))
            self.assertEqual(failed, 0)
            self.assertGreater(attempted, 0)


class Searches(Place):
    def test_find_returns_hits(self):
        hits = self.catalogue.find("will it rain in Oslo", k=1)
        self.assertEqual(hits.ids, ["get_weather"])
        self.assertTrue(hits)
        self.assertEqual(hits[0].schema["required"], ["city"])
        self.assertGreater(hits[0].probability, 0)
        self.assertEqual(hits.recipe, "hybrid")
        self.assertEqual(hits.to("openai")[0]["function"]["name"], "get_weather")
        self.assertEqual(hits.to("anthropic")[0]["input_schema"]["type"], "object")

    def test_filters_and_conversations(self):
        self.assertEqual(self.catalogue.find("rain or a table", exclude=["get_*"]).ids, ["book_table"])
        self.assertEqual(self.catalogue.find("rain or a table", only=["get_*"]).ids, ["get_weather"])
        talk = [{"role": "user", "content": "what is the weather"}]
        self.assertEqual(self.catalogue.find("", k=1, messages=talk).ids, ["get_weather"])
        kept = self.catalogue.find("a table for two", k=1, have=["get_weather"])
        self.assertEqual(set(kept.ids), {"get_weather", "book_table"})

    def test_hits_outlive_their_list_and_their_catalogue(self):
        hit = self.catalogue.find("rain", k=1)[0]
        self.catalogue.close()
        self.assertEqual(hit.name, "get_weather")
        self.assertIn("Weather forecast", hit.description)

    def test_batch_keeps_the_order(self):
        found = self.catalogue.find_batch(["rain in Oslo", "a table for two"] * 10, k=1)
        self.assertEqual([hits[0].id for hits in found], ["get_weather", "book_table"] * 10)

    def test_asyncio(self):
        async def both():
            return await asyncio.gather(self.catalogue.afind("rain", k=1), self.catalogue.acall("weather in Oslo"))

        hits, call = asyncio.run(both())
        self.assertEqual(hits.ids, ["get_weather"])
        self.assertEqual(call.arguments, {"city": "Oslo"})

    def test_call_is_true_if_complete(self):
        self.assertTrue(self.catalogue.call("weather in Oslo for 3 days", tool="get_weather"))
        call = self.catalogue.call("book a table", tool="book_table")
        self.assertFalse(call)
        self.assertIn("people", call.missing)
        self.assertTrue(call.question)

    def test_pick_of_no_tool_is_false(self):
        self.assertFalse(self.catalogue.pick("hello there", abstain=0.05))

    def test_threads_share_a_catalogue(self):
        wrong = []

        def search():
            for _ in range(20):
                if self.catalogue.find("rain", k=1).ids != ["get_weather"]:
                    wrong.append(1)

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_rank_is_that_of_sentence_transformers(self):
        ranked = self.catalogue.rank("weather", ["a table", "rain in Oslo"], top_k=1)
        self.assertEqual(ranked[0]["corpus_id"], 1)
        self.assertEqual(len(self.catalogue.embed(["a", "b", ""])), 3)
        one, many = self.catalogue.encode_query("rain"), self.catalogue.encode_query(["rain"])
        self.assertEqual(list(one), list(many[0]))
        self.assertEqual(list(self.catalogue.encode_document("rain")), list(one))  # this encoder has no prompts


class Tools(Place):
    def test_catalogue_is_a_collection(self):
        self.assertEqual(len(self.catalogue), 2)
        self.assertIn("get_weather", self.catalogue)
        self.assertNotIn("weather", self.catalogue)
        self.assertEqual([tool.id for tool in self.catalogue], ["get_weather", "book_table"])
        self.catalogue.remove("book_table")
        self.assertEqual(len(self.catalogue), 1)

    def test_add_reads_files_and_reports_bad_tools(self):
        file = self.path.parent / "tools.json"
        file.write_text(json.dumps([{"name": "ok", "description": "fine"}, {"name": 5}]))
        added = self.catalogue.add(file, provider="mine")
        self.assertEqual((added.added, added.skipped), (1, 1))
        self.assertIn("/1", added.issues[0]["pointer"])
        self.assertIn("mine/ok", self.catalogue)

    def test_add_mcp_asks_servers(self):
        server = [sys.executable, str(pathlib.Path(__file__).parent / "mcp_server.py")]
        command = {"command": server[0], "args": server[1:]}
        configuration = {"mcpServers": {"office": command, "broken": {"command": "/nowhere/server"}}}
        added = self.catalogue.add_mcp(configuration)
        self.assertEqual((added.added, [server["name"] for server in added.servers]), (1, ["office", "broken"]))
        self.assertIn("/nowhere/server", added.servers[1]["reason"])
        self.assertIn("office/print_page", self.catalogue)
        file = self.path.parent / "mcp.json"
        file.write_text(json.dumps(configuration))
        self.assertEqual(self.catalogue.add_mcp(file).unchanged, 1)
        self.assertEqual(self.catalogue.add_mcp(server, provider="other").added, 1)
        for source in (configuration, file):  # add starts no programs
            with self.assertRaisesRegex(whichtool.FormatError, "servers"):
                self.catalogue.add(source)

    def test_check_finds_problems(self):
        self.catalogue.add([{"name": "x", "description": ""}])
        audit = self.catalogue.check()
        self.assertEqual((audit["tools"], len(audit["costs"]) > 0), (3, True))
        self.assertIn(
            ("empty-description", "warning", ["x"]),
            [(one["rule"], one["level"], one["tools"]) for one in audit["findings"]],
        )
        self.assertEqual(
            self.catalogue.check(rules=["empty-description"], ignored=["empty-description:x"])["findings"], []
        )
        with self.assertRaises(whichtool.InvalidArgument):
            self.catalogue.check(rules=["no-such-rule"])

    def test_definitions_of_types(self):
        class Colour(enum.Enum):
            RED = "red"

        cases = [
            (str, {"type": "string"}),
            (typing.List[int], {"type": "array", "items": {"type": "integer"}}),  # noqa: UP006
            (typing.Optional[float], {"anyOf": [{"type": "number"}, {"type": "null"}]}),
            (typing.Literal["a", "b"], {"enum": ["a", "b"]}),
            (Colour, {"enum": ["red"]}),
            (typing.Dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),  # noqa: UP006
            (object, {}),
        ]
        for kind, schema in cases:
            self.assertEqual(definitions.schema_of(kind), schema)
        with self.assertRaises(TypeError):
            definitions.definition_of(5)

    def test_recorded_use_and_training(self):
        for _ in range(3):
            self.catalogue.record("what should I wear", ["get_weather"], outcome="ok")
        self.assertEqual(self.catalogue.find("what should I wear", k=1).ids, ["get_weather"])
        phases = []
        self.catalogue.train("neighbours", progress=lambda phase, done, total: phases.append(phase))
        self.assertTrue(any(phase.startswith("neighbours: ") for phase in phases))


class Failures(Place):
    def test_exceptions_are_builtin_ones_too(self):
        with self.assertRaises(LookupError) as caught:
            self.catalogue.tool("nope")
        self.assertIsInstance(caught.exception, whichtool.NotFound)
        with self.assertRaises(ValueError) as caught:
            self.catalogue.pick("rain", kk=5)
        self.assertEqual(caught.exception.pointer, "/kk")
        with self.assertRaises(whichtool.InvalidArgument):
            self.catalogue.find(" ")
        with self.assertRaises(whichtool.Error):
            whichtool.Catalogue(self.path.parent, model=BUILT_IN)

    def test_progress_can_cancel_and_raise(self):
        with self.assertRaises(whichtool.Cancelled):
            self.catalogue.add([{"name": f"t{i}", "description": "x"} for i in range(100)], progress=lambda *_: True)

        def interrupt(*_):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.catalogue.add([{"name": f"u{i}", "description": "x"} for i in range(100)], progress=interrupt)
        self.assertEqual(self.catalogue.find("rain", k=1).ids, ["get_weather"])

    def test_closed_catalogue(self):
        self.catalogue.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            self.catalogue.find("rain")

    def test_close_waits_for_other_threads(self):
        failed = []

        def search():
            try:
                while True:
                    self.catalogue.find("rain", k=1)
            except ValueError:
                return
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=search) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        self.catalogue.close()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_child_of_a_fork_must_open_its_own(self):
        child = os.fork()
        if child == 0:
            try:
                self.catalogue.find("rain")
            except RuntimeError:
                os._exit(7)
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        self.assertTrue(self.catalogue.find("rain"))

    def test_missing_library_is_an_import_error(self):
        environment = {**os.environ, "WHICHTOOL_LIBRARY": "/nowhere/libwhichtool.so"}
        done = subprocess.run(
            [sys.executable, "-c", "import whichtool"], capture_output=True, text=True, env=environment
        )
        self.assertIn("ImportError: cannot load the library of whichtool", done.stderr)


if __name__ == "__main__":
    unittest.main()
