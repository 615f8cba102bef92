/// A row of the table, or several that are measured together.
struct Row: Sendable {
    var name: String
    var summary: String
    var measure: @Sendable (Bench) throws -> [Line]
}

/// All rows, in the order of the table.
let rows = [
    Row(name: "echo", summary: "an Echo call of 150 bytes in three shapes", measure: measureEcho),
    Row(name: "latency", summary: "one call at a time", measure: measureLatency),
    Row(name: "typed", summary: "a typed task beside a raw one", measure: measureTyped),
    Row(name: "dialects", summary: "the same call in each dialect", measure: measureDialects),
    Row(name: "isolation", summary: "a plugin in a process of its own", measure: measureIsolation),
    Row(name: "pool", summary: "a process that is ready beside one that has to be started", measure: measurePool),
    Row(name: "neighbour", summary: "calls of one plugin while another one crashes", measure: measureNeighbour),
    Row(name: "flood", summary: "a call while another user floods the daemon (needs root)", measure: measureFlood),
    Row(
        name: "attacks", summary: "what another user waits for while one attacks (best as root)",
        measure: measureAttacks),
    Row(name: "forwarding", summary: "a task that a client provides", measure: measureForwarding),
    Row(name: "persistence", summary: "records beside SQLite driven directly", measure: measurePersistence),
    Row(name: "connections", summary: "10,000 idle connections", measure: measureConnections),
    Row(name: "idle", summary: "memory of an idle daemon with all plugins", measure: measureIdle),
    Row(name: "start", summary: "from exec to the first answer", measure: measureStart),
    Row(name: "large", summary: "messages of 1 MiB, and small calls beside them", measure: measureLarge),
    Row(name: "streams", summary: "the bytes of a file as a stream, beside cat | cat", measure: measureStreams),
    Row(name: "fetch", summary: "HTTP requests, beside bare libcurl", measure: measureFetch),
    Row(name: "cookies", summary: "cookies for a URL among 3,300", measure: measureCookies),
    Row(name: "allocations", summary: "heap allocations of the daemon for each call", measure: measureAllocations),
    Row(name: "micro", summary: "decode, route and encode by themselves", measure: measureMicro),
    Row(name: "instructions", summary: "the same, in instructions (needs valgrind)", measure: measureInstructions),
]
