"""An HTTP server with a thread for each connection, which reads only the heads of requests."""

from __future__ import annotations

import socket
import threading


class ConnectionServer:
    def __init__(self) -> None:
        self.ended = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self) -> None:
        self.ended.set()
        self.listener.close()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while (head := self.head(connection)) and self.answer(connection, head):
                    pass
            except OSError:
                pass

    def head(self, connection: socket.socket) -> bytes:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65_536)
            if not piece:
                return b""
            head += piece
        return head

    def answer(self, connection: socket.socket, head: bytes) -> bool:
        """Answers a request; returns whether the connection continues."""
        raise NotImplementedError
