"""The conformance vectors, with both interfaces."""

from __future__ import annotations

import asyncio
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional

from . import conformance
from .support import REPOSITORY, Daemon, DaemonTestCase

SHARED = REPOSITORY / "Tests/Conformance"
SAMPLES = Path(__file__).parent / "conformance"


def run_vector(vector: dict[str, Any], face: conformance.Face) -> Optional[Exception]:
    """Runs one vector with its own daemon, so that vectors do not affect each other."""
    daemon = Daemon()
    try:
        asyncio.run(conformance.run(vector, face, daemon.path))
        return None
    except Exception as error:
        return error
    finally:
        daemon.close()


class ConformanceTests(DaemonTestCase):
    def run_folder(self, folder: Path) -> None:
        vectors = conformance.load(folder)
        if not vectors:
            self.skipTest(f"there are no vectors for clients in {folder.name}")
        runs = [(name, vector, face) for name, vector in vectors for face in conformance.FACES]
        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(lambda run: run_vector(run[1], conformance.FACES[run[2]]()), runs))
        skipped = []
        for (name, vector, face), end in zip(runs, ends):
            with self.subTest(f"{name}: {vector.get('rule')}", face=face):
                if isinstance(end, conformance.MissingTasks):
                    skipped.append(f"{name} ({face}): {end}")
                elif end is not None:
                    raise end
        if skipped:
            self.skipTest(f"{len(skipped)} skipped: {'; '.join(skipped)}")

    def test_the_vectors_that_all_clients_share_hold(self) -> None:
        self.run_folder(SHARED)

    def test_the_runner_runs_its_own_samples(self) -> None:
        self.run_folder(SAMPLES)


class PatternTests(unittest.TestCase):
    def test_a_name_stands_for_the_same_value_wherever_it_comes(self) -> None:
        names = conformance.Names()
        names.match({"a": "<x>", "b": ["<x>", "…"]}, {"a": 1, "b": [1, 2]})
        self.assertEqual(names.fill({"k": ["<x>", "<y>"]}), {"k": [1, "<y>"]})
        with self.assertRaises(conformance.Unequal):
            names.match("<x>", 2)

    def test_members_and_items_that_are_not_named_are_refused_unless_allowed(self) -> None:
        names = conformance.Names()
        names.match({"a": 1, "…": "…"}, {"a": 1, "b": 2})
        names.match([1, "…"], [1])
        cases = [({"a": 1}, {"a": 1, "b": 2}), ([1], [1, 2]), ({"a": 1}, {}), (1, True), ([1], 1)]
        for pattern, value in cases:
            with self.subTest(pattern=pattern), self.assertRaises(conformance.Unequal):
                names.match(pattern, value)

    def test_a_vector_that_needs_a_task_that_is_missing_is_not_run(self) -> None:
        daemon = Daemon()
        self.addCleanup(daemon.close)
        for make in conformance.FACES.values():
            with self.assertRaises(conformance.MissingTasks):
                asyncio.run(conformance.run({"needs": ["no.such"], "client": []}, make(), daemon.path))
