"""A container of a web view whose cookies are a copy of a profile: `cookie_container.py SOCKET`.

It reads commands as lines of JSON from its standard input, and answers each with a line:

    {"load": URL}                      loads a page
    {"random": COUNT, "seed": SEED}    makes COUNT random changes to its jar, in the background
    {"settle": true}                   waits until those changes are made and synchronized, then answers
                                       {"cookies", "sent", "refused", "got"}: the cookies of the jar, and the numbers of
                                       changes in each direction

It ends at the end of its input. It needs WebKitGTK and a screen.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any, Callable, Optional

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Soup", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, Soup, WebKit2  # noqa: E402  the versions come first

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import trestle_bridge  # noqa: E402
from cookie_pool import random_cookie, random_key  # noqa: E402

Key = tuple[str, str, bool, str]
Cookie = dict[str, Any]

REPLICA = "web"
MAXIMUM_CHANGES = 200
SAME_SITE = {"none": Soup.SameSitePolicy.NONE, "lax": Soup.SameSitePolicy.LAX, "strict": Soup.SameSitePolicy.STRICT,
             "unset": Soup.SameSitePolicy.LAX}


def key_of(cookie: Cookie) -> Key:
    return cookie["name"], cookie["host"], cookie.get("hostOnly", True), cookie.get("path", "/")


def to_soup(cookie: Cookie) -> Soup.Cookie:
    domain = cookie["host"] if cookie.get("hostOnly", True) else f".{cookie['host']}"
    soup = Soup.Cookie.new(cookie["name"], cookie["value"], domain, cookie.get("path", "/"), -1)
    if "expires" in cookie:
        soup.set_expires(GLib.DateTime.new_from_unix_utc(cookie["expires"]))
    soup.set_secure(cookie.get("secure", False))
    soup.set_http_only(cookie.get("httpOnly", False))
    soup.set_same_site_policy(SAME_SITE[cookie.get("sameSite", "unset")])
    return soup


def from_soup(soup: Soup.Cookie) -> Cookie:
    policy, domain, expires = soup.get_same_site_policy(), soup.get_domain(), soup.get_expires()
    cookie = {"name": soup.get_name(), "value": soup.get_value(), "host": domain.removeprefix("."),
              "hostOnly": not domain.startswith("."), "path": soup.get_path(), "secure": soup.get_secure(),
              "httpOnly": soup.get_http_only(),
              "sameSite": "lax" if policy == Soup.SameSitePolicy.LAX else "strict"
              if policy == Soup.SameSitePolicy.STRICT else "none" if soup.get_secure() else "unset"}
    if expires:
        cookie["expires"] = expires.to_unix()
    return cookie


class Jar:
    """WebKit's jar. Its calls end when WebKit has answered. Meanwhile, callbacks only record the work that is due."""

    def __init__(self, manager: WebKit2.CookieManager) -> None:
        self.manager = manager
        self.running = 0

    def begin(self, call: Callable[..., None], *arguments: Any) -> None:
        self.running += 1
        call(*arguments, None, self.ended)

    def ended(self, source: Any, result: Any) -> None:
        self.running -= 1

    def wait(self) -> None:
        while self.running:
            GLib.MainContext.default().iteration(True)

    def replace(self, cookies: list[Cookie]) -> None:
        if cookies:  # WebKit refuses an empty list
            self.begin(self.manager.replace_cookies, [to_soup(cookie) for cookie in cookies])
            self.wait()

    def set(self, cookie: Cookie) -> None:
        self.begin(self.manager.add_cookie, to_soup(cookie))

    def delete(self, cookie: Cookie) -> None:
        """Deletes a cookie. libsoup deletes it only if the value is equal."""
        self.begin(self.manager.delete_cookie, to_soup(cookie))

    def read(self) -> dict[Key, Cookie]:
        results: list[Any] = []
        self.manager.get_all_cookies(None, lambda source, result: results.append(result))
        while not results:
            GLib.MainContext.default().iteration(True)
        cookies = map(from_soup, self.manager.get_all_cookies_finish(results[0]))
        return {key_of(cookie): cookie for cookie in cookies}


class Replica:
    """Keeps the jar and the profile equal."""

    def __init__(self, bridge: trestle_bridge.Bridge, jar: Jar) -> None:
        self.bridge = bridge
        self.jar = jar
        self.events = bridge.subscribe("cookies.changed", local=True, max_events=100_000)
        # The cookies as WebKit stores them, and the version of each.
        self.shadow: dict[Key, Cookie] = {}
        self.versions: dict[Key, int] = {}
        self.sent = self.refused = self.got = 0
        first: list[Cookie] = []
        options: dict[str, Any] = {"replica": REPLICA}
        while True:
            page = bridge.call("cookies.attach", options)
            first += page.get("cookies") or [change["cookie"] for change in page.get("changes", [])]
            if not page.get("more"):
                break
            options["since"] = page["version"]
        jar.replace(first)
        for key, cookie in jar.read().items():
            self.shadow[key], self.versions[key] = cookie, page["version"]

    def take(self) -> bool:
        """Applies the events that have arrived. Returns whether there were any."""
        changes: list[dict[str, Any]] = []
        while True:
            try:
                event = self.events.get(0)
            except TimeoutError:
                break
            changes += event.data["changes"]
        self.got += len(changes)
        self.apply(changes)
        return bool(changes)

    def apply(self, changes: list[dict[str, Any]]) -> None:
        """Applies changes of the profile to the jar, only the last one of each cookie."""
        last = {key_of(change.get("cookie") or change["key"]): change for change in changes}
        if not last:
            return
        there = self.jar.read()
        for key, change in last.items():
            if "cookie" in change:
                self.jar.set(change["cookie"])
            elif key in there:
                self.jar.delete(there[key])
        self.jar.wait()
        there = self.jar.read()
        for key, change in last.items():
            wanted = change.get("cookie")
            if wanted is None:
                self.shadow.pop(key, None)
                self.versions.pop(key, None)
                continue
            found = there.get(key)
            # Another value is a later change of the jar itself.
            mine = found if found and found["value"] == wanted["value"] else from_soup(to_soup(wanted))
            self.shadow[key], self.versions[key] = mine, change["version"]

    def push(self) -> bool:
        """Sends the changes in the jar. Returns whether there were any."""
        there = self.jar.read()
        changes: list[tuple[Key, Optional[Cookie]]] = [
            (key, cookie) for key, cookie in there.items() if self.shadow.get(key) != cookie]
        changes += [(key, None) for key in self.shadow if key not in there]
        for start in range(0, len(changes), MAXIMUM_CHANGES):
            self.send(changes[start:start + MAXIMUM_CHANGES])
        return bool(changes)

    def send(self, changes: list[tuple[Key, Optional[Cookie]]]) -> None:
        texts: list[dict[str, Any]] = []
        for key, cookie in changes:
            base = self.versions.get(key, 0)
            name, host, host_only, path = key
            texts.append({"change": "set", "cookie": cookie, "base": base} if cookie else {
                "change": "removed", "key": {"name": name, "host": host, "hostOnly": host_only, "path": path},
                "base": base})
        answer = self.bridge.call("cookies.apply", {"replica": REPLICA, "changes": texts})
        self.sent += len(texts)
        refused = {key_of(refusal["key"]): refusal for refusal in answer["refused"]}
        self.refused += len(refused)
        for key, cookie in changes:
            if key in refused:
                continue
            if cookie:
                self.shadow[key], self.versions[key] = cookie, answer["version"]
            else:
                self.shadow.pop(key, None)
                self.versions.pop(key, None)
        self.apply([
            {"cookie": refusal["current"], "version": refusal["current"]["version"]} if refusal["current"]
            else {"key": refusal["key"]} for refusal in refused.values()])


class Container:
    # The time for a burst of changes to end.
    PAUSE_MS = 50
    BURST = 20

    def __init__(self, socket: str) -> None:
        context = WebKit2.WebContext.new_ephemeral()
        manager = context.get_cookie_manager()
        manager.set_accept_policy(WebKit2.CookieAcceptPolicy.ALWAYS)
        self.view = WebKit2.WebView(web_context=context, settings=WebKit2.Settings(
            hardware_acceleration_policy=WebKit2.HardwareAccelerationPolicy.NEVER))
        window = Gtk.Window()
        window.add(self.view)
        window.show_all()
        self.jar = Jar(manager)
        self.replica = Replica(trestle_bridge.connect(socket), self.jar)
        self.random = random.Random()
        self.left = 0
        self.commands: list[dict[str, Any]] = []
        self.is_pausing = self.is_due = self.has_ended = False
        manager.connect("changed", self.changed)
        GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, self.command)
        # Events arrive on another thread, which does not wake up this one.
        GLib.timeout_add(5, lambda: GLib.SOURCE_CONTINUE)

    def changed(self, manager: Any) -> None:
        if not self.is_pausing:
            self.is_pausing = True
            GLib.timeout_add(self.PAUSE_MS, self.due)

    def due(self) -> bool:
        self.is_pausing, self.is_due = False, True
        return bool(GLib.SOURCE_REMOVE)

    def command(self, *_: Any) -> bool:
        line = sys.stdin.readline()
        self.has_ended = not line
        if line:
            self.commands.append(json.loads(line))
        return not self.has_ended

    def run(self) -> None:
        answer({})
        while not self.has_ended:
            GLib.MainContext.default().iteration(True)
            self.replica.take()
            self.change_at_random()
            if self.is_due:
                self.is_due = False
                self.replica.push()
            while self.commands:
                self.obey(self.commands.pop(0))

    def obey(self, command: dict[str, Any]) -> None:
        if "load" in command:
            self.view.load_uri(command["load"])
        if "random" in command:
            self.random, self.left = random.Random(command["seed"]), command["random"]
        answer(self.settle() if "settle" in command else {})

    def change_at_random(self) -> None:
        """Begins some changes without waiting for their end."""
        known = self.replica.shadow
        for _ in range(min(self.left, self.BURST if self.jar.running < self.BURST else 0)):
            self.left -= 1
            key = random_key(self.random)
            cookie = known.get(key_of(key))
            if cookie and self.random.random() < 0.3:
                self.jar.delete(cookie)
            else:
                self.jar.set(random_cookie(self.random, key))

    def settle(self) -> dict[str, Any]:
        while self.left:
            self.change_at_random()
            GLib.MainContext.default().iteration(True)
            self.replica.take()
        self.jar.wait()
        replica = self.replica
        while True:
            # All events that the daemon sent before this answer have arrived.
            replica.bridge.call("bridge.ping")
            if not replica.take() and not replica.push():
                break
        return {"cookies": list(self.jar.read().values()), "sent": replica.sent, "refused": replica.refused,
                "got": replica.got}


def answer(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    Container(sys.argv[1]).run()
