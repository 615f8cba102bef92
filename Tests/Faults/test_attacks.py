"""Other users of the machine, which may open the socket and know everything but the credentials."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import Any

from daemon import ROOT, Bridge, Daemon, Home
from report import FaultTest
from settings import ROUNDS, SEED
from stranger import OTHER, STRANGER, allow, connect, open_home

ORIGIN = "https://notes.example"


class Attack(FaultTest):
    rules = ""

    def setUp(self) -> None:
        self.random = random.Random(SEED)
        self.home: Home = open_home(self.rules)
        self.addCleanup(self.home.remove)
        self.daemon = Daemon.ready(self.home)
        self.addCleanup(lambda: self.daemon.kill())

    def stranger(self, uid: int = STRANGER) -> Bridge:
        bridge = connect(self.home, uid)
        self.addCleanup(bridge.__exit__)
        return bridge


class Strangers(Attack):
    def test_tasks(self) -> None:
        """A user without a rule is denied every task, gets the rule in the error, and receives no events"""
        tasks = [task["name"] for task in self.daemon.result("bridge.tasks")["tasks"]]
        with self.daemon.connect() as owner:
            owner.call("persistence.create", {"table": "t", "key": "k", "record": {"secret": "apple"}})
            with self.stranger() as stranger:
                tried = 0
                for task in tasks * ROUNDS:
                    for options in ({}, {"table": "t", "key": "k"}, {"events": ["*"]}, {"name": "echo"}):
                        answer = stranger.call(task, options)
                        self.assertEqual(answer["error"]["code"], "permission.denied", answer)
                        self.assertTrue(answer["error"]["data"]["rule"], answer)
                        tried += 1
                # Only answers have arrived: no event about the actions of others meanwhile.
                owner.call("persistence.update", {"table": "t", "key": "k", "record": {"secret": "pear"}})
                self.assertEqual(stranger.call("Echo")["error"]["code"], "permission.denied")
            self.assertEqual(owner.call("persistence.read", {"table": "t", "key": "k"})["result"]["record"], {"secret": "pear"})
        self.row("another user, no rule: every task", f"{tried} calls of {len(tasks)} tasks",
                 "`permission.denied` with the rule; no effect, no event", "as promised, each time")


class Forgers(Attack):
    rules = allow("call", ["Echo", "bridge.ping"], STRANGER)

    def test_ids(self) -> None:
        """Callbacks, progress and cancels with the ids of others' calls do not affect those calls"""
        provider, caller = self.daemon.connect(), self.daemon.connect()
        self.addCleanup(provider.__exit__)
        self.addCleanup(caller.__exit__)
        provider.call("bridge.register", {"tasks": ["slow"]})
        forged = 0
        with self.stranger() as stranger:
            for number in range(ROUNDS):
                calls = [caller.send("slow", {"n": n}) for n in range(100)]
                questions = [provider.receive() for _ in calls]
                for identifier in [*calls, *(question["callbackId"] for question in questions)]:
                    for message in ({"callbackId": identifier, "result": "forged"}, {"cancel": identifier},
                                    {"callbackId": identifier, "progress": "forged"},
                                    {"callbackId": identifier, "error": {"code": "x", "message": "forged"}},
                                    {"responseId": identifier, "responseData": "forged"},
                                    {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": identifier}}):
                        stranger.socket.sendall(json.dumps(message).encode() + b"\n")
                        forged += 1
                # Once this is answered, all of them have been read.
                stranger.post("bridge.ping", {}, f"last {number}")
                while (answer := stranger.receive())["callbackId"] != f"last {number}":
                    self.assertNotIn("result", answer)
                for question in questions:
                    provider.socket.sendall(json.dumps(
                        {"callbackId": question["callbackId"], "result": question["options"]["n"]}).encode() + b"\n")
                answers = [caller.receive() for _ in calls]
                self.assertEqual({a["callbackId"]: a.get("result") for a in answers}, dict(zip(calls, range(100))))
        self.row("another user forges answers, progress and cancels of others' calls", f"{forged} messages for {100 * ROUNDS} calls",
                 "each call has the answer of its provider, and no other", "as promised, each time")


class Origins(Attack):
    rules = (allow("call", ["bridge.hello", "persistence.*"], STRANGER) + allow("origin", [ORIGIN], STRANGER)
             + allow("call", ["persistence.*"], STRANGER) + f'origin = ["{ORIGIN}"]\n'
             + allow("call", ["bridge.hello", "persistence.*"], OTHER))

    def names(self) -> list[str]:
        """Returns texts that are similar to the origin, and not equal."""
        names = {ORIGIN + "/", ORIGIN + ":443", ORIGIN + "\0", " " + ORIGIN, ORIGIN + " ", ORIGIN.upper(), "http" + ORIGIN[5:],
                 ORIGIN + ".evil.example", "https://evil.example#" + ORIGIN, ORIGIN + "%00", "*", "https://*", "local\0",
                 ORIGIN.replace("notes", "note\u017f"), ORIGIN.replace("n", "\u207f"), "\ufeff" + ORIGIN}
        while len(names) < 200:
            place = self.random.randrange(len(ORIGIN))
            letter = chr(self.random.choice([self.random.randrange(32, 127), self.random.randrange(0xA0, 0x2FF)]))
            names.add(ORIGIN[:place] + letter + ORIGIN[place + self.random.randrange(2):])
        names.discard(ORIGIN)
        return sorted(names)

    def test_names(self) -> None:
        """A client cannot represent an origin without a rule, in any spelling"""
        with self.stranger() as owner:
            self.assertIn("result", owner.call("bridge.hello", {"origin": ORIGIN}))
            owner.call("persistence.create", {"table": "t", "key": "k", "record": {"mine": True}})
            tried = 0
            for uid, names in ((STRANGER, self.names()), (OTHER, [*self.names(), ORIGIN])):
                with self.stranger(uid) as thief:
                    for name in names:
                        answer = thief.call("bridge.hello", {"origin": name})
                        self.assertIn(answer["error"]["code"], ("permission.denied", "options.invalid"), answer)
                        tried += 1
                    self.assertNotIn("mine", json.dumps(thief.call("persistence.query", {"table": "t"})))
            self.assertEqual(len(owner.call("persistence.query", {"table": "t"})["result"]["records"]), 1)
        self.row("a page names an origin that is not its own, spelt in many ways", f"{tried} names, of two users",
                 "it keeps the origin that it has, and sees none of the other's records", "refused, each time")


class Guessers(Attack):
    rules = allow("call", ["login", "login.status"], STRANGER)

    def test_passwords(self) -> None:
        """A client that guesses passwords is locked out, over any number of connections, and the owner is not"""
        ada = {"user": "ada", "password": "correct horse"}
        self.daemon.result("login.users.add", ada)
        counts = {"login.failed": 0, "login.locked": 0, "busy": 0}
        end = time.monotonic() + 20
        guess = 0
        while time.monotonic() < end:
            with self.stranger() as thief:
                calls = {}
                for _ in range(20):
                    guess += 1
                    calls[thief.send("login", {"user": "ada", "password": f"guess {guess}"})] = guess
                for _ in range(20):
                    answer = thief.receive()
                    self.assertIn(answer.pop("callbackId"), calls)
                    counts[answer["error"]["code"]] += 1
                    if answer["error"]["code"] != "login.failed":
                        self.assertGreater(answer["error"]["retryAfter"], 0)
        self.assertLessEqual(counts["login.failed"], 10)
        self.assertEqual(self.daemon.result("login", ada)["user"], "ada")
        self.assertNotIn("guess", self.home.log)
        self.assertNotIn("correct horse", self.home.log)
        self.row("passwords are guessed, over many connections", f"{guess} guesses within 20 s",
                 "after four guesses each one doubles the pause; the owner of the account can log in; no guess is in "
                 "the log",
                 f"{counts['login.failed']} were compared, the others answered `login.locked` or `busy`")


class Garbage(Attack):
    rules = allow("call", ["Echo", "bridge.ping"], STRANGER)

    def lines(self) -> list[bytes]:
        """Returns messages that reach much of the decoder, as a base for random changes."""
        return [file.read_bytes() for file in sorted((ROOT / "Fuzz/Corpus/messages").iterdir())]

    def spoil(self, line: bytes) -> bytes:
        spoilt = bytearray(line)
        for _ in range(self.random.randrange(4)):
            place = self.random.randrange(len(spoilt) + 1)
            spoilt[place:place + self.random.randrange(3)] = self.random.randbytes(self.random.randrange(4))
        return bytes(spoilt)

    def test_lines(self) -> None:
        """For any bytes, in any pieces, answers are JSON, the connection continues, and others are not affected"""
        seeds = self.lines()
        sent = answered = others = 0
        with self.daemon.connect() as victim:
            for _ in range(2 * ROUNDS):
                thief = self.stranger()
                answers: list[bytes] = []
                reader = threading.Thread(target=lambda: answers.extend(iter(thief.lines.readline, b"")))
                reader.start()
                for _ in range(50):
                    text = b"\n".join(self.spoil(self.random.choice(seeds)) for _ in range(50)) + b"\n"
                    sent += text.count(b"\n")
                    while text:
                        cut = self.random.randrange(1, 4_096)
                        thief.socket.sendall(text[:cut])
                        text = text[cut:]
                    self.assertEqual(victim.call("Echo", {"still": others})["result"], {"still": others})
                    others += 1
                thief.post("bridge.ping", {}, "last of all")
                thief.socket.shutdown(1)
                reader.join(60)
                self.assertFalse(reader.is_alive())
                found: list[Any] = [json.loads(answer) for answer in answers]
                self.assertTrue(any(isinstance(a, dict) and a.get("callbackId") == "last of all" and "result" in a for a in found))
                answered += len(found)
        self.row("garbage: spoilt messages of all dialects, in pieces", f"{sent} lines over {2 * ROUNDS} connections",
                 "what is answered is JSON, the connection lives on, others' calls are answered",
                 f"{answered} answers, each connection still served; {others} calls of another's meanwhile")
