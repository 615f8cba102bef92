/// A row of the table, or several about one subject.
struct Row: Sendable {
    typealias Part = @Sendable (Bench) throws -> [Line]

    var name: String
    var summary: String
    /// Whether idle processors may sleep, as they do for users: in rows about the waits of one user beside another.
    var mayProcessorsSleep: Bool
    /// Its measurements, each of which can be repeated by itself.
    var parts: [Part]

    init(name: String, summary: String, mayProcessorsSleep: Bool = false, parts: [Part]) {
        self.name = name
        self.summary = summary
        self.mayProcessorsSleep = mayProcessorsSleep
        self.parts = parts
    }

    init(name: String, summary: String, mayProcessorsSleep: Bool = false, measure: @escaping Part) {
        self.init(name: name, summary: summary, mayProcessorsSleep: mayProcessorsSleep, parts: [measure])
    }
}

/// All rows, in the order of the table.
let rows = [
    Row(name: "echo", summary: "an Echo call of 150 bytes in three shapes", measure: measureEcho),
    Row(name: "latency", summary: "one call at a time", measure: measureLatency),
    Row(name: "typed", summary: "a typed task beside a raw one", measure: measureTyped),
    Row(name: "dialects", summary: "the same call in each dialect", measure: measureDialects),
    Row(name: "isolation", summary: "a plugin in a process of its own", measure: measureIsolation),
    Row(name: "pool", summary: "a process that is ready beside one that has to be started", measure: measurePool),
    Row(
        name: "neighbour", summary: "calls of one plugin while another one crashes", mayProcessorsSleep: true,
        measure: measureNeighbour),
    Row(
        name: "flood", summary: "a call while another user floods the daemon (needs root)", mayProcessorsSleep: true,
        measure: measureFlood),
    Row(
        name: "attacks",
        summary: "what another user waits for while one attacks (without root: another connection of that user)",
        mayProcessorsSleep: true, parts: attacks.map { attack in { try measureAttack(attack, $0) } }),
    Row(name: "forwarding", summary: "a task that a client provides", measure: measureForwarding),
    Row(name: "persistence", summary: "records beside SQLite driven directly", measure: measurePersistence),
    Row(name: "connections", summary: "10,000 idle connections", measure: measureConnections),
    Row(name: "idle", summary: "memory of an idle daemon with all plugins", measure: measureIdle),
    Row(name: "start", summary: "from exec to the first answer", measure: measureStart),
    Row(name: "large", summary: "messages of 1 MiB, and small calls beside them", measure: measureLarge),
    Row(
        name: "streams", summary: "the bytes of a file as a stream, beside cat | cat",
        parts: [measureStreams, measureStreamNeighbours]),
    Row(name: "fetch", summary: "HTTP requests, beside bare libcurl", parts: fetchParts),
    Row(name: "cookies", summary: "cookies for a URL among 3,300", measure: measureCookies),
    Row(name: "allocations", summary: "heap allocations of the daemon for each call", measure: measureAllocations),
    Row(name: "micro", summary: "decode, route and encode by themselves", measure: measureMicro),
    Row(name: "instructions", summary: "the same, in instructions (needs valgrind)", measure: measureInstructions),
]
