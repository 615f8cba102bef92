"""Calls during restarts of the daemon."""

import resource
import threading

from bridge import LIMIT, Bridge, call
from machine import SERVICE, ServiceTest, main_process, run

CALLS = 1_000
CLIENTS = 10
MANY_SESSIONS = 4_000


class Writer(threading.Thread):
    """Stores records one after the other; a write that is not acknowledged is repeated on a new connection."""

    def __init__(self, name, keys, progress):
        super().__init__()
        self.table = name
        self.waiting = list(keys)
        self.progress = progress
        self.acknowledged = []
        self.trouble = []
        self.refused = 0
        self.unanswered = 0

    def run(self):
        try:
            while self.waiting:
                self.write_over_one_connection()
        except Exception as error:
            self.trouble.append(repr(error))

    def write_over_one_connection(self):
        try:
            bridge = Bridge()
        except ConnectionRefusedError:
            self.refused += 1
            return
        with bridge:
            while self.waiting:
                key = self.waiting[0]
                try:
                    number = bridge.send("persistence.create", {"table": self.table, "key": key, "record": {"k": key}})
                    callback = bridge.receive()
                except OSError:
                    callback = None
                if callback is None:
                    # The connection ended: the call may have begun or not; its record shows which.
                    self.unanswered += 1
                    return
                if not self.settle(key, number, callback):
                    return
            # No message may follow the last callback.
            bridge.socket.shutdown(1)
            if (extra := bridge.receive()) is not None:
                self.trouble.append(f"one callback too many: {extra}")

    def settle(self, key, number, callback):
        """Handles a callback; returns false if another connection is needed."""
        if callback.get("callbackId") != number or ("result" in callback) == ("error" in callback):
            self.trouble.append(f"call {number} was answered {callback}")
        error = callback.get("error")
        if error and error["code"] not in ("record.exists", "daemon.stopping"):
            self.trouble.append(f"call {number} was answered {callback}")
        if error and error["code"] == "daemon.stopping":
            return False
        self.waiting.pop(0)
        self.acknowledged.append(key)
        self.progress.release()
        return True


class Restarts(ServiceTest):
    def test_restarts(self):
        """Of 1,000 writes during three restarts each gets one callback, none is refused, none acknowledged is lost"""
        progress = threading.Semaphore(0)
        share = CALLS // CLIENTS
        writers = [Writer(f"restarts{c}", [f"{n:04}" for n in range(share)], progress) for c in range(CLIENTS)]
        processes = {main_process()}
        for writer in writers:
            writer.start()
        for restart in range(3):
            # During the writes: each time after another quarter of the calls.
            for _ in range(CALLS // 4):
                self.assertTrue(progress.acquire(timeout=LIMIT), [writer.trouble for writer in writers])
            run("systemctl", "restart", SERVICE)
            processes.add(main_process())
        for writer in writers:
            writer.join(LIMIT)
            self.assertFalse(writer.is_alive())
        self.assertEqual([trouble for writer in writers for trouble in writer.trouble], [])
        self.assertEqual(sum(writer.refused for writer in writers), 0, "the socket was not open all the time")
        self.assertEqual(len(processes), 4)
        for writer in writers:
            self.assertEqual(len(writer.acknowledged), share)
            for key in writer.acknowledged:
                self.assertEqual(call("persistence.read", {"table": writer.table, "key": key})["record"], {"k": key})
        # The connections were handed over from daemon to daemon.
        self.assertEqual(sum(writer.unanswered for writer in writers), 0)

    def test_in_flight(self):
        """A call that hangs during a restart of the daemon gets its one callback before the restart"""
        with Bridge() as provider, Bridge() as caller:
            provider.call("bridge.register", {"tasks": ["hang"]})
            number = caller.send("hang")
            self.assertEqual(provider.receive()["task"], "hang")
            run("systemctl", "restart", SERVICE)
            callback = caller.receive()
            self.assertEqual(callback["callbackId"], number)
            self.assertIn("code", callback["error"])
            # Both continue with the next daemon, and no second callback arrives.
            self.assertIn("cancel", provider.receive())
            self.assertIn("result", caller.call("Echo"))
            self.assertIn("result", provider.call("Echo"))

    def test_sessions(self):
        """Sessions survive restarts with number, origin, subscriptions, tasks, and a line that was cut in two"""
        self.rule('[[rule]]\nallow = ["register", "publish"]\norigin = "page:1"\n')
        with Bridge() as client, Bridge() as other:
            client.call("bridge.hello", {"client": "survivor", "origin": "page:1"})
            self.assertIn("result", client.call("bridge.register", {"tasks": ["mine"]}))
            other.call("bridge.subscribe", {"events": ["door.*"]})

            def survivor():
                sessions = other.call("bridge.sessions")["result"]["sessions"]
                return [
                    {member: session[member] for member in ("session", "uid", "pid", "origin", "tasks")}
                    for session in sessions
                    if session["client"] == "survivor"
                ]

            before = survivor()
            self.assertEqual(len(before), 1)
            for _ in range(3):
                client.socket.sendall(b'{"task":"Echo","options":"cut')
                run("systemctl", "restart", SERVICE)
                client.socket.sendall(b' in two","callbackId":"cut"}\n')
                self.assertEqual(client.receive(), {"callbackId": "cut", "result": "cut in two"})
                self.assertEqual(survivor(), before)
            client.call("bridge.publish", {"event": "door.opened", "data": 1})
            self.assertEqual(other.receive(), {"event": "door.opened", "data": 1})

    def test_many_sessions(self):
        """Thousands of sessions survive a restart, each with its own number and subscription"""
        resource.setrlimit(resource.RLIMIT_NOFILE, (3 * MANY_SESSIONS, 3 * MANY_SESSIONS))
        bridges = [Bridge() for _ in range(MANY_SESSIONS)]
        try:
            sessions = []
            for index, bridge in enumerate(bridges):
                sessions.append(bridge.call("bridge.hello", {"client": f"c{index}"})["result"]["session"])
                bridge.call("bridge.subscribe", {"events": [f"for.{index}"]})
            self.assertEqual(len(set(sessions)), MANY_SESSIONS)
            run("systemctl", "restart", SERVICE)
            with Bridge() as publisher:
                for index in range(MANY_SESSIONS):
                    publisher.call("bridge.publish", {"event": f"for.{index}", "data": index})
            for index, bridge in enumerate(bridges):
                self.assertEqual(bridge.receive(), {"event": f"for.{index}", "data": index})
                self.assertEqual(bridge.call("bridge.hello", {})["result"]["session"], sessions[index])
        finally:
            for bridge in bridges:
                bridge.__exit__()
