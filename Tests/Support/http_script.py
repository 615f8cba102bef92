#!/usr/bin/env python3
"""http_script.py SCRIPT [CERTIFICATE KEY]: an HTTP server that sends the bytes of a script.

The script is JSON: an object from paths to lists of steps. "*" applies to all other paths. The server reads the head
of a request, and its body if there is a Content-Length. Then it performs the steps:

    {"send": "text"}                  sends the text, each character one byte
    {"base64": "…"}                   sends these bytes
    {"repeat": "text", "times": 1000} sends the text the specified number of times
    {"gzip": "text", "times": 1000}   sends the text, repeated, in gzip
    {"read": true}                    reads a body in chunks to its end
    {"wait": "path"}                  waits until this path has been requested
    {"hang": true}                    waits until the client closes the connection
    {"pause": 0.1}                    waits the specified number of seconds
    {"close": true}                   closes the connection; without it, the next request is read
    {"closing": "path"}               records a request of this path if the connection ends before the response
    {"turns": [steps, …]}             performs one list for each request of the path; the last list repeats
    {"methods": {"GET": steps, …}}    performs the steps for the request's method

The server adds nothing to the scripted response, not even a "Connection" header. The path /_seen returns a JSON array
of the requests so far, each {"line", "headers", "body"}, with the body as ISO 8859-1.

The server writes its port to standard output, and ends at the end of its standard input.
"""

import base64
import gzip
import json
import socket
import ssl
import sys
import threading

script = json.load(open(sys.argv[1], encoding="utf-8"))
seen = []
turns = {}
changed = threading.Condition()


def read_head(file):
    line = file.readline().decode("latin-1").rstrip("\r\n")
    if not line:
        return None
    headers = []
    while True:
        field = file.readline().decode("latin-1").rstrip("\r\n")
        if not field:
            return line, headers
        name, _, value = field.partition(":")
        headers.append([name, value.strip()])


def read_chunks(file):
    body = b""
    while True:
        size = int(file.readline().split(b";")[0], 16)
        body += file.read(size)
        file.readline()
        if size == 0:
            return body


def do(step, connection, file, request):
    if "turns" in step:
        with changed:
            turn = turns.get(id(step), 0)
            turns[id(step)] = turn + 1
        return all(do(inner, connection, file, request) for inner in step["turns"][min(turn, len(step["turns"]) - 1)])
    elif "methods" in step:
        steps = step["methods"][request["line"].split()[0]]
        return all(do(inner, connection, file, request) for inner in steps)
    elif "send" in step:
        connection.sendall(step["send"].encode("latin-1"))
    elif "base64" in step:
        connection.sendall(base64.b64decode(step["base64"]))
    elif "repeat" in step:
        piece = step["repeat"].encode("latin-1") * max(1, 65536 // len(step["repeat"]))
        left = len(step["repeat"]) * step["times"]
        while left > 0:
            connection.sendall(piece[:left])
            left -= len(piece)
    elif "gzip" in step:
        connection.sendall(gzip.compress(step["gzip"].encode("latin-1") * step["times"]))
    elif "read" in step:
        request["body"] = read_chunks(file).decode("latin-1")
    elif "wait" in step:
        with changed:
            changed.wait_for(lambda: any(other["line"].split()[1] == step["wait"] for other in seen))
    elif "pause" in step:
        threading.Event().wait(step["pause"])
    elif "hang" in step:
        try:
            while connection.recv(4096):
                pass
        except OSError:
            pass
        return False
    elif "closing" in step:
        request["closing"] = step["closing"]
    elif "close" in step:
        return False
    return True


def answer_seen(connection):
    body = json.dumps(seen).encode()
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    connection.sendall(head.encode() + body)


def serve(connection):
    try:
        if context is not None:
            connection = context.wrap_socket(connection, server_side=True)
        with connection, connection.makefile("rb") as file:
            while serve_one(connection, file):
                pass
    except (OSError, ValueError):
        pass


def note(request):
    with changed:
        seen.append(request)
        changed.notify_all()


def serve_one(connection, file):
    head = read_head(file)
    if head is None:
        return False
    line, headers = head
    path = line.split()[1]
    if path == "/_seen":
        answer_seen(connection)
        return True
    request = {"line": line, "headers": headers, "body": ""}
    length = next((int(value) for name, value in headers if name.lower() == "content-length"), 0)
    request["body"] = file.read(length).decode("latin-1")
    note(request)
    is_whole = False
    try:
        is_whole = all(do(step, connection, file, request) for step in script.get(path, script.get("*", [])))
    finally:
        if not is_whole and "closing" in request:
            note({"line": f"CLOSED {request['closing']}", "headers": [], "body": ""})
    return is_whole


def accept(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


context = None
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
server = socket.create_server(("127.0.0.1", 0), backlog=256)
print(server.getsockname()[1], flush=True)
threading.Thread(target=accept, args=(server,), daemon=True).start()
sys.stdin.read()
