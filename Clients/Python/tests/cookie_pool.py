"""Random cookies, for both sides of a replica."""

from __future__ import annotations

import random
from typing import Any

NAMES = ["a", "b", "c", "d"]
HOSTS = ["a.example.org", "b.example.org", "c.example.net"]
PATHS = ["/", "/deep"]


def random_key(generator: random.Random) -> dict[str, Any]:
    return {"name": generator.choice(NAMES), "host": generator.choice(HOSTS), "hostOnly": generator.random() < 0.5,
            "path": generator.choice(PATHS)}


def random_cookie(generator: random.Random, key: dict[str, Any]) -> dict[str, Any]:
    """Returns a cookie that has not been used before."""
    cookie = {**key, "value": f"{generator.getrandbits(64):x}", "secure": generator.random() < 0.5,
              "httpOnly": generator.random() < 0.3}
    cookie["sameSite"] = generator.choice(["lax", "strict", "none" if cookie["secure"] else "unset"])
    return cookie
