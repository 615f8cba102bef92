// TaskRuntime: sessions, routing and the call table. No sockets, no clock of its own.
