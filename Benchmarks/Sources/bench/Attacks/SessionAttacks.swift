// Attacks with many sessions, calls and tasks that begin or end together.

private let callersOfTask = 990
private let callsOfEach = 16
private let held = "held.task"

/// The attacker's own task, which it never answers, called from 990 connections.
private final class HeldCalls {
    let field: AttackField
    private(set) var callers: [AttackConnection] = []
    private(set) var provider: AttackConnection
    private let lines = Array((1...callsOfEach).map { callLine(held, "{}", id: $0) + "\n" }.joined().utf8)

    init(_ field: AttackField) throws {
        self.field = field
        provider = try field.connect()
        try register()
    }

    private func register() throws { try field.ask(provider, callLine("bridge.register", #"{"tasks":["\#(held)"]}"#)) }

    func replaceProvider() throws {
        provider = try field.connect()
        try register()
    }

    func connect() throws { callers = try (0..<callersOfTask).map { _ in try field.connect() } }

    /// Sends all calls. They are in flight when this returns.
    func begin() throws {
        let wanted = provider.receivedLines + callers.count * callsOfEach
        for caller in callers { caller.queue(lines) }
        try field.pump { provider.receivedLines >= wanted }
    }

    var lineBytes: Int { lines.count / callsOfEach }
    var bytes: Int { callersOfTask * lines.count }
}

/// Returns names whose FNV-1a hashes end in the same bits, so that they would collide in a hash table without a seed.
private func collidingNames(_ count: Int) -> [String] {
    var names: [String] = []
    var number = 0
    while names.count < count {
        let name = "c" + String(number, radix: 36)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        if (hash ^ hash >> 32) & 0xFFF == 0 { names.append(name) }
        number += 1
    }
    return names
}

let sessionAttacks = [
    Attack(name: "990 connections × 16 calls close") { field in
        let calls = try HeldCalls(field)
        return Assault(lineBytes: calls.lineBytes, bytes: calls.bytes) {
            try calls.connect()
            try calls.begin()
        } strike: {
            field.close(calls.callers)
            // The daemon has processed the end of all connections.
            try field.settle()
        }
    },
    Attack(name: "990 connections × 16 calls end") { field in
        let calls = try HeldCalls(field)
        try calls.connect()
        return Assault(lineBytes: calls.lineBytes, bytes: calls.bytes) {
            if calls.provider.isClosed { try calls.replaceProvider() }
            try calls.begin()
        } strike: {
            let wanted = calls.callers.map { $0.answers + callsOfEach }
            field.close([calls.provider])
            try field.pump { zip(calls.callers, wanted).allSatisfy { $0.isClosed || $0.answers >= $1 } }
        }
    },
    Attack(name: "1,000 names that collide, unregister and register") { field in
        let names = collidingNames(1000)
        let parts = try stride(from: 0, to: names.count, by: 250).map { start in
            let list = names[start..<start + 250].map { "\"\($0)\"" }.joined(separator: ",")
            let options = "{\"tasks\":[\(list)]}"
            let connection = try field.connect()
            try field.ask(connection, callLine("bridge.register", options))
            return (
                connection,
                Array(
                    (callLine("bridge.unregister", options) + "\n" + callLine("bridge.register", options) + "\n").utf8)
            )
        }
        return Assault(lineBytes: parts[0].1.count / 2, bytes: parts.reduce(0) { $0 + $1.1.count }) {
            for (connection, lines) in parts { try field.strike(connection, lines, answers: 2) }
        }
    },
]
