import BridgeJSON

/// Runs the wire steps of a vector on its own connections.
struct WireRun {
    private let path: String
    private let stepTimeout: Duration
    private var connections: [String: WireSocket] = [:]
    private var pattern = VectorPattern()
    private var pingCount = 0

    init(path: String, stepTimeout: Duration) { (self.path, self.stepTimeout) = (path, stepTimeout) }

    /// Runs the wire steps.
    ///
    /// - Returns: The first mismatch, with the step's JSON path; `nil` if all steps passed.
    static func failure(of vector: Vector, path: String, stepTimeout: Duration) -> String? {
        var run = WireRun(path: path, stepTimeout: stepTimeout)
        for (index, (step, name)) in vector.wire.enumerated() {
            do throws(WireSocket.Failure) {
                if let failure = try run.carryOut(step, on: name) {
                    return "$.wire[\(index)], connection \(name): \(failure)"
                }
            } catch {
                return "$.wire[\(index)], connection \(name): \(error)"
            }
        }
        return nil
    }

    private mutating func carryOut(_ step: Vector.WireStep, on name: String) throws(WireSocket.Failure) -> String? {
        let connection = try connection(name)
        switch step {
        case .send(let message): try connection.send(pattern.filled(message).bytes + [0x0A])
        case .sendText(let text): try connection.send(Array(pattern.filled(text: text).utf8))
        case .sendBytes(let bytes): try connection.send(bytes)
        case .sendRepeated(let prefix, let unit, let count, let suffix):
            guard let count = pattern.filled(count).int64Value else { return "the count \(count.text) is not a number" }
            let middle = repeated(pattern.filled(text: unit), max(0, count))
            try connection.send(
                Array(pattern.filled(text: prefix).utf8) + middle + Array(pattern.filled(text: suffix).utf8))
        case .receive(let expected): return try receive(expected, connection)
        case .skipTo(let expected): return try skip(to: expected, connection)
        case .receiveText(let expected):
            let line = try connection.line()
            return line == expected ? nil : "expected \(expected); got \(line ?? "the end of the connection")"
        case .nothing: return try findNothing(connection)
        case .end: connection.end()
        case .close: connections[name] = nil
        case .closed:
            guard let line = try connection.line() else { return nil }
            return "expected the end of the connection; got \(line)"
        }
        return nil
    }

    private mutating func connection(_ name: String) throws(WireSocket.Failure) -> WireSocket {
        if let known = connections[name] { return known }
        let connection = try WireSocket(path: path, stepTimeout: stepTimeout)
        connections[name] = connection
        return connection
    }

    private mutating func receive(_ expected: JSON, _ connection: WireSocket) throws(WireSocket.Failure) -> String? {
        guard let line = try connection.line() else {
            return "the daemon closed the connection instead of \(expected.text)"
        }
        guard let message = try? JSON(parsing: line) else { return "the received line is not valid JSON: \(line)" }
        return pattern.misfit(message, expected).map { "\($0); the whole line: \(line)" }
    }

    private mutating func skip(to expected: JSON, _ connection: WireSocket) throws(WireSocket.Failure) -> String? {
        while let line = try connection.line() {
            if let message = try? JSON(parsing: line), pattern.misfit(message, expected) == nil { return nil }
        }
        return "the daemon closed the connection before \(expected.text)"
    }

    private func repeated(_ unit: String, _ count: Int64) -> [UInt8] {
        let parts = unit.split(separator: "<n>", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return repeated(Array(unit.utf8), count) }
        return (0..<count).flatMap { Array(parts.joined(separator: String($0)).utf8) }
    }

    /// Repeats bytes by doubling, so that a million repetitions take few steps.
    private func repeated(_ bytes: [UInt8], _ count: Int64) -> [UInt8] {
        guard count > 1 else { return count == 1 ? bytes : [] }
        let half = repeated(bytes, count / 2)
        return half + half + (count % 2 == 0 ? [] : bytes)
    }

    /// Checks that nothing has arrived: messages are sent in order, so the next one must be the answer to a ping.
    private mutating func findNothing(_ connection: WireSocket) throws(WireSocket.Failure) -> String? {
        pingCount += 1
        let id = JSON.string("conformance.ping.\(pingCount)")
        let ping: JSON = ["task": "bridge.ping", "callbackId": id]
        try connection.send(ping.bytes + [0x0A])
        guard let line = try connection.line() else { return "the daemon closed the connection" }
        let answer = try? JSON(parsing: line)
        return answer?["callbackId"] == id ? nil : "expected nothing; got \(line)"
    }
}
