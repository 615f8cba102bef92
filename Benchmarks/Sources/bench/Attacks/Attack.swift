/// The messages with which one user tries to delay another.
struct Attack: Sendable {
    var name: String
    /// Changes the daemon's settings before its start.
    var prepareDaemon: @Sendable (Bench, inout DaemonSettings) throws -> Void = { _, _ in }
    var victim = Victim.Call.echo
    /// Prepares the daemon, and returns the repeated part of the attack.
    var setUp: @Sendable (AttackField) throws -> Assault
}

/// A call in the native dialect, without its line end.
func callLine(_ task: String, _ options: String, id: Int = 1) -> String {
    #"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#
}

/// One repetition of an attack.
struct Assault {
    /// The length of its longest line, and of all lines: a harmless sender sends the same amount.
    var lineBytes: Int
    var bytes: Int
    /// The unmeasured preparation of each repetition.
    var prepare: () throws -> Void = {}
    var strike: () throws -> Void
}

extension Assault {
    /// One message on one connection, and its answers.
    static func message(
        _ text: String, on connection: AttackConnection, of field: AttackField, answers: Int = 1
    ) -> Assault {
        let bytes = Array((text + "\n").utf8)
        return Assault(lineBytes: bytes.count, bytes: bytes.count) {
            try field.strike(connection, bytes, answers: answers)
        }
    }

    /// The same number of bytes, in lines of the same length, with harmless content.
    static func harmless(like assault: Assault, of field: AttackField) throws -> Assault {
        let connection = try field.connect()
        let frame = #"{"task":"Echo","options":"","callbackId":1}"#
        let length = max(0, min(assault.lineBytes, 1 << 20) - frame.utf8.count - 1)
        let text = String(repeating: "x", count: length)
        let line = Array((#"{"task":"Echo","options":"\#(text)","callbackId":1}"# + "\n").utf8)
        let count = max(1, assault.bytes / line.count)
        let lines = Array(repeatElement(line, count: count).joined())
        return Assault(lineBytes: line.count, bytes: lines.count) {
            try field.strike(connection, lines, answers: count)
        }
    }
}

/// The results of an attack.
struct AttackFigures {
    var name: String
    var limitMilliseconds: Double
    /// The victim's longest wait without an attack, in milliseconds.
    var quietLongest = 0.0
    /// The victim's wait in milliseconds, and the loop's CPU time in microseconds, for each repetition.
    var waits: [Double] = []
    var loopCPU: [Double] = []
    /// Whether the daemon did not answer within the time limit.
    var isOverdue = false
    /// For each round: p50 and p99 while the attack is repeated without a pause, and p99 beside a harmless sender.
    var endless: [(p50: Double, p99: Double, harmlessP99: Double)] = []
    var peakMiB = 0.0
    /// The most CPU time that one turn of the loop took, in milliseconds; `nil` if the daemon does not report it.
    var longestTurn: Double?

    var withinLimit: Int { waits.count { $0 <= limitMilliseconds } }
}

extension Bench {
    /// The number of repetitions of an attack, and their time limit in seconds.
    private static let repetitions = 50
    private static let repetitionSeconds = 20.0
    private static let quietSeconds = 1.0
    private static let endlessSeconds = 2.0

    /// Starts a daemon and attacks it.
    func measure(_ attack: Attack) throws -> AttackFigures {
        var settings = DaemonSettings(topLevel: try attackRules())
        try attack.prepareDaemon(self, &settings)
        let field = try AttackField(self, settings)
        var figures = AttackFigures(name: attack.name, limitMilliseconds: attack.victim.limitMilliseconds)
        do {
            try measure(attack, on: field, &figures)
            figures.longestTurn = field.server.longTurns?.longestMilliseconds
        } catch is AttackTimeout {
            figures.isOverdue = true
            field.kill()
        }
        field.stop()
        return figures
    }

    private func measure(_ attack: Attack, on field: AttackField, _ figures: inout AttackFigures) throws {
        let assault = try attack.setUp(field)
        try field.settle()
        try field.startVictim(attack.victim)
        guard let victim = field.victim, !victim.hasEnded else { throw Failure("the victim cannot call") }
        let (start, loopStart) = (monotonicNanoseconds(), field.loopNanoseconds)
        try field.wait(seconds: Self.quietSeconds)
        let quiet = (end: monotonicNanoseconds(), loop: field.loopNanoseconds - loopStart)
        figures.quietLongest = victim.longestWait(from: start, to: quiet.end)
        defer { figures.peakMiB = field.server.memoryKiB("VmHWM") / 1024 }
        let quietLoad = Double(quiet.loop) / Double(quiet.end - start)
        try repeatApart(assault, field, victim, quietLoad: quietLoad, &figures)
        let harmless = try Assault.harmless(like: assault, of: field)
        for _ in 0..<rounds { try repeatEndlessly(assault, harmless, field, victim, &figures) }
    }

    /// Repeats the attack; waits for the end of its effects each time.
    private func repeatApart(
        _ assault: Assault, _ field: AttackField, _ victim: Victim, quietLoad: Double, _ figures: inout AttackFigures
    ) throws {
        let begin = monotonicNanoseconds()
        while figures.waits.count < Self.repetitions, seconds(since: begin) < Self.repetitionSeconds {
            try assault.prepare()
            try field.settle()
            let (start, loop) = (monotonicNanoseconds(), field.loopNanoseconds)
            defer {
                let end = monotonicNanoseconds()
                figures.waits.append(victim.longestWait(from: start, to: end))
                let own = Double(field.loopNanoseconds - loop) - quietLoad * Double(end - start)
                figures.loopCPU.append(max(0, own) / 1000)
            }
            try assault.strike()
            try field.settle()
        }
    }

    /// Repeats the attack without a pause. Then a harmless sender sends the same amount in the same time.
    private func repeatEndlessly(
        _ assault: Assault, _ harmless: Assault, _ field: AttackField, _ victim: Victim, _ figures: inout AttackFigures
    ) throws {
        let begin = monotonicNanoseconds()
        var strikes = 0
        while seconds(since: begin) < Self.endlessSeconds {
            try assault.prepare()
            try assault.strike()
            strikes += 1
        }
        let end = monotonicNanoseconds()
        try field.settle()
        let (pause, harmlessBegin) = (seconds(since: begin, to: end) / Double(strikes), monotonicNanoseconds())
        for strike in 1...strikes where seconds(since: harmlessBegin) < Self.endlessSeconds * 2 {
            try harmless.strike()
            try field.wait(seconds: Double(strike) * pause - seconds(since: harmlessBegin))
        }
        figures.endless.append(
            (
                victim.quantile(0.5, from: begin, to: end), victim.quantile(0.99, from: begin, to: end),
                victim.quantile(0.99, from: harmlessBegin, to: monotonicNanoseconds())
            ))
        try field.settle()
    }

    private func seconds(since start: UInt64, to end: UInt64 = monotonicNanoseconds()) -> Double {
        Double(end - start) / 1e9
    }

    /// Allows both users the tasks of a desktop user; returns lines for the beginning of the daemon's configuration.
    func attackRules() throws -> String {
        guard AttackField.isRoot else { return "" }
        let folder = place.sockets + "/attacks.d"
        _ = try ChildProcess(["install", "-m", "755", "-d", folder]).finish()
        _ = try ChildProcess(["chmod", "711", place.sockets]).finish()
        try writeFile(
            folder + "/attacks.toml",
            """
            [[rule]]
            allow = ["call", "register", "publish", "subscribe"]
            uid = [\(AttackField.victimUID), \(AttackField.attackerUID)]
            """)
        return "socket_mode = \"0666\"\npolicy_dir = \"\(folder)\""
    }
}
