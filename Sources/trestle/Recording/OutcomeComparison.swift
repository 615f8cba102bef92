import BridgeJSON

/// Compares the outcome of a call with the recorded outcome.
struct OutcomeComparison {
    struct Difference: Equatable, Sendable {
        var path: OutcomePath
        /// The recorded value; `nil` if there was none.
        var recorded: JSON?
        /// The current value; `nil` if there is none.
        var now: JSON?

        var json: JSON {
            var object: JSONObject = ["path": .string(path.description)]
            object["recorded"] = recorded
            object["now"] = now
            return .object(object)
        }
    }

    /// The result of a comparison.
    enum Verdict: Equatable, Sendable {
        case same
        case different([Difference])
        /// The recorded outcome is not complete enough for a comparison.
        case unknown
    }

    /// The maximum number of differences of one call.
    private static let maximumDifferences = 20

    private let ignored: [IgnoredPath]
    private var differences: [Difference] = []

    private init(_ ignored: [IgnoredPath]) { self.ignored = ignored }

    /// Compares two outcomes.
    ///
    /// - Parameter outcomeIsEnough: Whether to compare only if there is a result, and the code of an error.
    static func compare(
        _ recorded: RecordedCall.Outcome, _ now: Result<JSON, BridgeError>, ignoring ignored: [IgnoredPath],
        outcomeIsEnough: Bool = false
    ) -> Verdict {
        var comparison = OutcomeComparison(ignored)
        switch (recorded, now) {
        case (.result(let before), .success(let after)):
            if !outcomeIsEnough { comparison.compare(before, after, at: .result) }
        case (.error(let before), .failure(let after)):
            comparison.compare(before, after.json, outcomeIsEnough: outcomeIsEnough)
        case (.cut(isError: false, let beginning), .success(let after)):
            return outcomeIsEnough ? .same : CutPayload(beginning).verdict(after, ignored, at: .result)
        case (.cut(isError: true, let beginning), .failure(let after)):
            return CutPayload(beginning).verdict(after.json, ignored, at: .error)
        default: comparison.add(.result, Self.shown(recorded), Self.shown(now))
        }
        return comparison.differences.isEmpty ? .same : .different(comparison.differences)
    }

    /// Compares errors by their codes and data. Messages may change between versions, and retry times with the load.
    private mutating func compare(_ before: JSON, _ after: JSON, outcomeIsEnough: Bool) {
        for member in outcomeIsEnough ? ["code"] : ["code", "data"] {
            // Only the code of a private task's error is recorded.
            if member == "data", before["message"] == Recording.placeholder { continue }
            compareMember(member, before[member], after[member], at: .error)
        }
    }

    private static func shown(_ outcome: RecordedCall.Outcome) -> JSON {
        switch outcome {
        case .result(let value): ["result": value]
        case .error(let error): ["error": error]
        case .cut(let isError, let beginning): .object([isError ? "error" : "result": .string(beginning + "…")])
        }
    }

    private static func shown(_ outcome: Result<JSON, BridgeError>) -> JSON {
        switch outcome {
        case .success(let value): ["result": value]
        case .failure(let error): ["error": error.json]
        }
    }

    // MARK: Values

    private mutating func compare(_ before: JSON, _ after: JSON, at path: OutcomePath) {
        if differences.count >= Self.maximumDifferences || before == Recording.placeholder { return }
        if ignored.contains(where: { $0.holds(path) }) { return }
        switch (before, after) {
        case (.object(let before), .object(let after)):
            for (key, value) in before { compareMember(key, value, after[key], at: path) }
            for (key, value) in after where before[key] == nil { compareMember(key, nil, value, at: path) }
        case (.array(let before), .array(let after)):
            for index in 0..<max(before.count, after.count) {
                let elementPath = path.element(index)
                guard index < before.count, index < after.count else {
                    // Not a ternary, whose `nil` would become JSON's null.
                    add(elementPath, before.dropFirst(index).first, after.dropFirst(index).first)
                    continue
                }
                compare(before[index], after[index], at: elementPath)
            }
        case (.number(let before), .number(let after)):
            let isSame = before == after || (before.int64 != nil && before.int64 == after.int64)
            if !isSame && !path.isClock { add(path, .number(before), .number(after)) }
        default: if before != after { add(path, before, after) }
        }
    }

    private mutating func compareMember(_ key: String, _ before: JSON?, _ after: JSON?, at path: OutcomePath) {
        guard let before, let after else {
            if before != nil || after != nil { add(path.member(key), before, after) }
            return
        }
        compare(before, after, at: path.member(key))
    }

    private mutating func add(_ path: OutcomePath, _ before: JSON?, _ after: JSON?) {
        guard differences.count < Self.maximumDifferences, !ignored.contains(where: { $0.holds(path) }) else { return }
        differences.append(Difference(path: path, recorded: before, now: after))
    }
}

extension OutcomePath {
    /// Whether a number at this path is a time or a duration, by the suffix of its name: `expiresAt`, `uptimeMs`,
    /// `durationUs`.
    fileprivate var isClock: Bool {
        guard case .member(let name) = parts.last else { return false }
        return name.count > 2 && ["At", "Ms", "Us", "Ns"].contains { name.hasSuffix($0) }
    }
}

/// The beginning of a payload as text; the rest was not recorded.
private struct CutPayload {
    private let beginning: [UInt8]
    /// Whether two texts of the same value may differ, because of escapes or a masked secret.
    private let isUncertain: Bool

    init(_ text: String) {
        beginning = Self.withoutSpace(text)
        isUncertain = text.contains("\\") || text.contains("<private>")
    }

    func verdict(_ after: JSON, _ ignored: [IgnoredPath], at path: OutcomePath) -> OutcomeComparison.Verdict {
        let now = Self.withoutSpace(after.text)
        if now.starts(with: beginning) { return .same }
        // Ignored paths and clocks cannot be located in an incomplete text.
        guard !isUncertain, ignored.isEmpty else { return .unknown }
        let shown = JSON.string(String(decoding: now.prefix(beginning.count), as: UTF8.self) + "…")
        let recorded = JSON.string(String(decoding: beginning, as: UTF8.self) + "…")
        return .different([OutcomeComparison.Difference(path: path, recorded: recorded, now: shown)])
    }

    private static func withoutSpace(_ text: String) -> [UInt8] {
        var (isString, isEscape, bytes) = (false, false, [UInt8]())
        for byte in text.utf8 {
            if isString || byte > 0x20 { bytes.append(byte) }
            if byte == UInt8(ascii: "\""), !isEscape { isString.toggle() }
            isEscape = isString && byte == UInt8(ascii: "\\") && !isEscape
        }
        return bytes
    }
}
