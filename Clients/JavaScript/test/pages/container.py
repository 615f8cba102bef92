"""A minimal container of a web view: `container.py SOCKET PAGE-URI ORIGIN`.

Forwards the messages that the page posts to the handler `bridge` to the daemon, and each line from the daemon to the
page. With a line on its standard input, it closes the connection and makes another one. It ends with its input, or with
the page's session. It writes the page's console to its standard output, and at the end the state of the page's bridge.
"""

import json
import os
import socket
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2  # noqa: E402  the versions come first


class Container:
    def __init__(self, path, uri, origin):
        self._path = path
        self._origin = origin
        self._input = b""
        self._connect()
        manager = WebKit2.UserContentManager()
        manager.connect("script-message-received::bridge", self._posted)
        manager.register_script_message_handler("bridge")
        self._view = WebKit2.WebView(
            user_content_manager=manager, web_context=WebKit2.WebContext.new_ephemeral(),
            settings=WebKit2.Settings(
                enable_write_console_messages_to_stdout=True, allow_universal_access_from_file_urls=False,
                hardware_acceleration_policy=WebKit2.HardwareAccelerationPolicy.NEVER,
            ),
        )
        window = Gtk.Window()
        window.add(self._view)
        window.show_all()
        self._view.load_uri(uri)

    def _connect(self):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(self._path)
        self._input = b""
        self._watch = GLib.io_add_watch(self._socket.fileno(), GLib.IO_IN | GLib.IO_HUP, self._readable)
        # Introduces the page, before its own messages.
        self._send(json.dumps({"task": "bridge.hello", "callbackId": "hello", "options": {"origin": self._origin}}))

    def _send(self, text):
        # The daemon always reads, so this does not block the reading below.
        self._socket.sendall(text.encode() + b"\n")

    def _posted(self, manager, result):
        self._send(result.get_js_value().to_string())

    def _readable(self, *_):
        data = self._socket.recv(1 << 20)
        if not data:
            sys.exit("the daemon ended the connection")
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            self._received(line.decode())
        return GLib.SOURCE_CONTINUE

    def _received(self, line):
        message = json.loads(line)
        if message.get("callbackId") == "hello":
            if "error" in message:
                sys.exit(line)
            return
        # A JSON string is a valid JavaScript string.
        self._evaluate(f"WebBridge.container.receive({json.dumps(line)})")
        if message.get("event") == "web.close":
            GLib.source_remove(self._watch)
            self._evaluate("WebBridge.state", self._print_state)

    def _print_state(self, view, result):
        print("state:", view.evaluate_javascript_finish(result).to_string(), flush=True)
        Gtk.main_quit()

    def _evaluate(self, script, done=None):
        self._view.evaluate_javascript(script, -1, None, None, None, done)

    def command(self, *_):
        if not os.read(0, 4096):
            Gtk.main_quit()
            return GLib.SOURCE_REMOVE
        GLib.source_remove(self._watch)
        self._socket.close()
        self._connect()
        self._evaluate("WebBridge.container.sessionLost()")
        return GLib.SOURCE_CONTINUE


# Ends the process after an exception in a callback, which would otherwise only be printed while the test waits.
sys.excepthook = lambda *error: (sys.__excepthook__(*error), os._exit(1))
container = Container(*sys.argv[1:])
GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, container.command)
Gtk.main()
