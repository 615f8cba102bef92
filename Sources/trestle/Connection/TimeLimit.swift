import ArgumentParser
import BridgeClient
import BridgeJSON

/// A maximum time: "5" or "5s", "250ms", "2m", "1h".
struct TimeLimit: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        // A year is longer than any useful limit and fits into all types.
        guard let number = Double(digits), number > 0, number.isFinite,
            let unit = Self.seconds(of: argument.dropFirst(digits.count)), number * unit <= 366 * 86_400
        else { return nil }
        duration = max(.milliseconds(1), .seconds(number * unit))
    }

    /// Runs `body` and cancels it when the time has passed; `nil` sets no limit.
    ///
    /// - Throws: The error of `body`; `call.timeout` if the time passed before its end.
    static func within(_ limit: TimeLimit?, _ body: @escaping @Sendable () async throws -> Void) async throws {
        guard let limit else { return try await body() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                // Cancelled with the group if the body ends first.
                try? await Task.sleep(for: limit.duration)
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() == false else { return }
            group.cancelAll()
            // The result of the cancelled body is ignored, because its time had passed.
            while await group.nextResult() != nil {}
            let time = HumanDuration.text(limit.duration)
            throw BridgeError(.callTimeout, "the command did not end within \(time), the time limit of --timeout")
        }
    }

    private static func seconds(of unit: Substring) -> Double? {
        switch unit {
        case "ms": 0.001
        case "", "s": 1
        case "m", "min": 60
        case "h": 3_600
        default: nil
        }
    }
}
