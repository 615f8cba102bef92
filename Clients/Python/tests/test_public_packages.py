"""Public packages for JSON-RPC and OpenMetrics with a real daemon: jsonrpcclient, pjrpc and prometheus_client. If a
package is missing, its tests are skipped; `scripts/python-packages` installs the packages."""

from __future__ import annotations

import importlib
import json
import socket
import subprocess
import unittest
from typing import Any, Mapping, Optional

from .support import TEST_TIMEOUT, DaemonTestCase, daemon_folder


def package(name: str) -> Any:
    """Returns a module of a package outside the repository; None if it is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


jsonrpcclient = package("jsonrpcclient")
pjrpc = package("pjrpc.client")
openmetrics = package("prometheus_client.openmetrics.parser")
prometheus = package("prometheus_client.parser")
INSTALL = "is missing; scripts/python-packages installs it"


class Line:
    """A connection that sends a text as a line and reads lines."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(TEST_TIMEOUT)
        self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def send(self, text: str) -> None:
        """Sends a message."""
        self._socket.sendall(text.encode() + b"\n")

    def ask(self, text: str) -> str:
        """Sends a message, and waits for the next message."""
        self.send(text)
        return self.receive()

    def receive(self) -> str:
        """Waits for the next message."""
        return self._lines.readline().decode()

    def close(self) -> None:
        """Closes the connection."""
        self._lines.close()
        self._socket.close()


class LineTestCase(DaemonTestCase):
    """Tests with their own connection."""

    def setUp(self) -> None:
        self.line = Line(self.daemon.path)
        self.addCleanup(self.line.close)


@unittest.skipIf(jsonrpcclient is None, f"jsonrpcclient {INSTALL}")
class JSONRPCClientTests(LineTestCase):
    """Tests with jsonrpcclient, which makes requests and parses answers."""

    def ask(self, request: Any) -> Any:
        return jsonrpcclient.parse_json(self.line.ask(json.dumps(request)))

    def test_named_and_positional_parameters(self) -> None:
        answer = self.ask(jsonrpcclient.request("Echo", params={"hello": "world"}))
        self.assertEqual(answer.result, {"hello": "world"})
        answer = self.ask(jsonrpcclient.request("persistence.create", params=["notes", {"text": "milk"}]))
        self.assertIn("key", answer.result)

    def test_one_parameter_of_a_task_whose_options_are_no_object(self) -> None:
        provider = Line(self.daemon.path)
        self.addCleanup(provider.close)
        descriptions = {"shout": {"options": {"type": "string"}}}
        registration = {"tasks": ["shout"], "descriptions": descriptions}
        provider.ask(json.dumps({"task": "bridge.register", "options": registration, "callbackId": 1}))
        self.line.send(json.dumps(jsonrpcclient.request("shout", params=["milk"])))
        call = json.loads(provider.receive())
        self.assertEqual(call["options"], "milk")
        provider.send(json.dumps({"callbackId": call["callbackId"], "result": "MILK"}))
        self.assertEqual(jsonrpcclient.parse_json(self.line.receive()).result, "MILK")
        answer = self.ask(jsonrpcclient.request("shout", params=["milk", "bread"]))
        self.assertEqual((answer.code, answer.message), (-32602, "shout takes one parameter, not 2"))

    def test_errors_have_the_numbers_of_json_rpc(self) -> None:
        answer = self.ask(jsonrpcclient.request("Ecko"))
        self.assertIsInstance(answer, jsonrpcclient.Error)
        self.assertEqual((answer.code, answer.data["code"]), (-32601, "task.not_found"))
        self.assertEqual(answer.message, "there is no task Ecko; did you mean 'Echo'?")
        answer = self.ask(jsonrpcclient.request("persistence.create", params={"tabel": "notes"}))
        self.assertEqual((answer.code, answer.message), (-32602, "unknown option 'tabel'; did you mean 'table'?"))

    def test_a_batch_with_a_notification(self) -> None:
        requests = [
            jsonrpcclient.request("Echo", params=[1]),
            jsonrpcclient.notification("Echo", params=[2]),
            jsonrpcclient.request("Echo", params=[3]),
        ]
        answers = self.ask(requests)
        self.assertEqual({answer.id: answer.result for answer in answers}, {
            requests[0]["id"]: [1], requests[2]["id"]: [3],
        })


AbstractClient: Any = getattr(pjrpc, "AbstractClient", object)


class PJRPCClient(AbstractClient):  # type: ignore[misc]
    """The transport, which users of pjrpc must implement."""

    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def _request(self, text: str, is_notification: bool, kwargs: Mapping[str, Any]) -> Optional[str]:
        if not is_notification:
            return self._line.ask(text)
        self._line.send(text)
        return None


@unittest.skipIf(pjrpc is None, f"pjrpc {INSTALL}")
class PJRPCTests(LineTestCase):
    """Tests with pjrpc, which is a client without a transport."""

    def setUp(self) -> None:
        super().setUp()
        self.client = PJRPCClient(self.line)

    def test_calls(self) -> None:
        self.assertEqual(self.client.call("Echo", hello="world"), {"hello": "world"})
        self.assertEqual(self.client.proxy.Echo(1, 2), [1, 2])
        self.client.notify("Echo", 3)
        created = self.client.call("persistence.create", "notes", {"text": "milk"})
        found = self.client.call("persistence.read", table="notes", key=created["key"])
        self.assertEqual(found["record"], {"text": "milk"})

    def test_errors(self) -> None:
        exceptions = importlib.import_module("pjrpc.client.exceptions")
        with self.assertRaises(exceptions.MethodNotFoundError):
            self.client.call("Ecko")
        with self.assertRaises(exceptions.InvalidParamsError):
            self.client.call("persistence.create", record={})

    def test_a_batch(self) -> None:
        with self.client.batch() as batch:
            batch("Echo", 1)
            batch.notify("Echo", 2)
            batch("Echo", a=3)
        self.assertEqual(list(batch.get_results()), [[1], {"a": 3}])


@unittest.skipIf(openmetrics is None, f"prometheus_client {INSTALL}")
class PrometheusTests(DaemonTestCase):
    """Tests with prometheus_client, which parses the output of `trestle metrics`."""

    def metrics(self) -> str:
        return subprocess.run(
            [f"{daemon_folder()}/trestle", "--socket", self.daemon.path, "metrics"],
            check=True, capture_output=True, text=True, timeout=TEST_TIMEOUT,
        ).stdout

    def test_the_strict_parser_of_openmetrics(self) -> None:
        families = {family.name: family for family in openmetrics.text_string_to_metric_families(self.metrics())}
        self.assertEqual(families["trestle_sessions"].type, "gauge")
        self.assertGreaterEqual(families["trestle_sessions"].samples[0].value, 1)
        self.assertEqual(families["trestle_calls_refused"].type, "counter")
        self.assertTrue(all(family.documentation for family in families.values()))

    def test_the_parser_of_the_older_format(self) -> None:
        names = {sample.name for family in prometheus.text_string_to_metric_families(self.metrics())
                 for sample in family.samples}
        self.assertIn("trestle_sessions", names)
        self.assertIn("trestle_calls_refused_total", names)
