import BridgeJSON

/// The report of a replay: differences as they occur, and finally the number of equal calls.
struct ReplayReport {
    private let file: String
    private let isForPeople: Bool
    private let write: (String) -> Void

    private var sent = 0
    private var same = 0
    private var unknown = 0
    private(set) var different = 0
    private var skipped: [ReplayPlan.Reason: Int] = [:]

    /// - Parameters:
    ///   - file: The name of the recording.
    ///   - isForPeople: Whether to write text instead of lines of JSON.
    init(file: String, isForPeople: Bool, write: @escaping (String) -> Void) {
        (self.file, self.isForPeople, self.write) = (file, isForPeople, write)
    }

    mutating func add(_ call: RecordedCall, _ verdict: OutcomeComparison.Verdict) {
        sent += 1
        switch verdict {
        case .same: same += 1
        case .unknown: unknown += 1
        case .different(let differences):
            different += 1
            show(call, differences)
        }
    }

    mutating func add(_ call: ReplayPlan.Skipped) {
        skipped[call.reason, default: 0] += 1
        guard !isForPeople else { return }
        var line = Self.head("skipped", call.call)
        line["reason"] = .string(call.reason.rawValue)
        write(VisibleText.json(JSON.object(line).text) + "\n")
    }

    private func show(_ call: RecordedCall, _ differences: [OutcomeComparison.Difference]) {
        guard isForPeople else {
            var line = Self.head("different", call)
            line["differences"] = .array(differences.map(\.json))
            return write(VisibleText.json(JSON.object(line).text) + "\n")
        }
        var text = "\(file):\(call.line): \(PlainText.line(call.task)), session \(call.session)\n"
        let paths = differences.map { PlainText.line($0.path.description) }
        let width = paths.map(PlainText.width).max() ?? 0
        for (path, difference) in zip(paths, differences) {
            text += "  \(PlainText.padded(path, to: width))  recorded \(Self.words(difference.recorded))\n"
            text += "  \(PlainText.padded("", to: width))  now      \(Self.words(difference.now))\n"
        }
        write(text)
    }

    private static func head(_ kind: JSON, _ call: RecordedCall) -> JSONObject {
        [
            "kind": kind, "line": .number(JSONNumber(call.line)), "session": .number(JSONNumber(call.session)),
            "task": .string(call.task),
        ]
    }

    /// The maximum width of a shown value.
    private static let widestValue = 200

    private static func words(_ value: JSON?) -> String {
        value.map { PlainText.cut(PlainText.line($0.text), to: widestValue) } ?? "nothing"
    }

    // MARK: The end

    /// Writes the summary.
    func finish(_ recording: Recording) {
        write(isForPeople ? sentence(recording) : VisibleText.json(summary(recording).text) + "\n")
    }

    private func summary(_ recording: Recording) -> JSON {
        func number(_ count: some BinaryInteger) -> JSON { .number(JSONNumber(count)) }
        var reasons: JSONObject = [:]
        for reason in ReplayPlan.Reason.allCases { reasons[reason.rawValue] = skipped[reason].map(number) }
        return [
            "kind": "summary", "sent": number(sent), "same": number(same), "different": number(different),
            "notCompared": number(unknown), "skipped": .object(reasons), "refused": number(recording.refusals),
            "byPlugins": number(recording.foreignCalls), "lost": number(recording.lostLines),
            "whole": .bool(recording.isWhole),
        ]
    }

    private func sentence(_ recording: Recording) -> String {
        var parts = ["\(same) same", "\(different) different"]
        if unknown > 0 { parts.append("\(unknown) not compared") }
        var text = "\(sent) calls sent again: \(parts.joined(separator: ", "))\n"
        let reasons = ReplayPlan.Reason.allCases.compactMap { reason in skipped[reason].map { (reason, $0) } }
        for (reason, count) in reasons { text += "\(count) not sent: \(Self.sentence(reason))\n" }
        if recording.lostLines > 0 {
            text += "the recording lacks \(recording.lostLines) lines: they arrived faster than they were written\n"
        }
        if !recording.isWhole { text += "the recording has no end line: it may be incomplete\n" }
        return text
    }

    private static func sentence(_ reason: ReplayPlan.Reason) -> String {
        switch reason {
        case .masked: "their options contain secrets, which are not recorded"
        case .cut: "their options are longer than what is recorded"
        case .provided: "clients answered them, and no client provides these tasks now"
        case .stream: "one of their options, or their result, was a stream, whose bytes are not recorded"
        case .unended: "they were cancelled, timed out, or have no end in the recording"
        case .connection: "they are about the connection or about other calls"
        }
    }
}
