import BridgeClient
import BridgeJSON
import Glibc

/// Writes a recording line by line and counts its contents.
actor RecordingWriter {
    private let file: OutputFile
    private let overwrites: Bool
    private var start = ContinuousClock.now
    private(set) var isFinished = false
    private(set) var calls = 0
    private(set) var lines = 0
    private(set) var lostLines: Int64 = 0
    private var sessions = Set<Int64>()

    /// - Parameter overwrites: Whether it may replace an existing file.
    init(_ path: String, overwrites: Bool) throws {
        file = try OutputFile(path, overwrites: overwrites)
        self.overwrites = overwrites
    }

    /// Writes the first line.
    ///
    /// - Parameters:
    ///   - daemon: The description of the daemon.
    ///   - filter: The options of `bridge.monitor`.
    func begin(daemon: DaemonInfo?, filter: JSON) throws {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let milliseconds = Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
        start = .now
        try write([
            "trestle": "recording", "version": .number(JSONNumber(Recording.version)),
            "daemon": daemon?.json["daemon"] ?? nil, "protocol": daemon?.json["protocol"] ?? nil,
            "startedAt": .number(JSONNumber(milliseconds)), "filter": filter,
        ])
    }

    /// Writes an event of the daemon.
    ///
    /// - Parameters:
    ///   - event: `bridge.traffic`, or `bridge.events_dropped`.
    func add(event: String, _ data: JSON) throws {
        guard event == "bridge.traffic" else {
            lostLines += data["count"]?.int64Value ?? 0
            return try write(line(["kind": "lost", "count": data["count"] ?? 0]))
        }
        if data["kind"] == "call" { calls += 1 }
        if let session = data["session"]?.int64Value { sessions.insert(session) }
        try write(line(data.objectValue ?? [:]))
    }

    /// Writes the last line and flushes the file to disk.
    func finish() throws {
        try write(line(["kind": "end", "lines": .number(JSONNumber(lines))]))
        try file.finish(overwrites: overwrites)
        isFinished = true
    }

    /// Removes the temporary file, unless it was finished.
    func discard() { file.discard() }

    /// The summary for people and programs.
    var summary: JSON {
        [
            "calls": .number(JSONNumber(calls)), "sessions": .number(JSONNumber(sessions.count)),
            "lines": .number(JSONNumber(lines)), "lost": .number(JSONNumber(lostLines)),
        ]
    }

    private func line(_ traffic: JSONObject) -> JSON {
        var line: JSONObject = ["offsetUs": .number(JSONNumber((ContinuousClock.now - start).microseconds))]
        for (key, value) in traffic { line[key] = value }
        return .object(line)
    }

    private func write(_ line: JSON) throws {
        lines += 1
        try file.write(RecordedStreams.withoutNames(line.bytes) + [UInt8(ascii: "\n")])
    }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
