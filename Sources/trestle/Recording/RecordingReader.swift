import BridgeJSON

/// The reason why a file is not a valid recording, with the place.
struct RecordingFault: LocalFailure, Equatable {
    static let code: ErrorCode = "recording.invalid"

    var file: String
    var line: Int
    var reason: String

    var description: String { "\(file):\(line): \(reason)" }
}

/// Reads a recording and checks every line of it.
struct RecordingReader {
    private let file: String
    private var line = 1
    private var recording = Recording()
    private var offset: Int64 = 0
    /// The indices of the calls in the list, by their numbers.
    private var indices: [Int64: Int] = [:]
    private var seen = Set<Int64>()

    private init(_ file: String) { self.file = file }

    /// Reads a recording.
    ///
    /// - Parameter file: The name of the file in errors.
    static func read(_ bytes: [UInt8], file: String) throws(RecordingFault) -> Recording {
        var reader = RecordingReader(file)
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        guard let first = lines.first else {
            throw reader.fault("a recording begins with a header line; this file is empty")
        }
        try reader.header(try reader.object(first))
        for line in lines.dropFirst() {
            reader.line += 1
            try reader.traffic(try reader.object(line))
        }
        return reader.recording
    }

    private func fault(_ reason: String) -> RecordingFault { RecordingFault(file: file, line: line, reason: reason) }

    private func object(_ bytes: ArraySlice<UInt8>) throws(RecordingFault) -> JSON {
        let value: JSON
        do throws(JSONSyntaxError) {
            value = try JSON(parsing: Array(bytes))
        } catch {
            throw fault("the line is not JSON: \(error)")
        }
        guard value.objectValue != nil else { throw fault("expected an object; got \(Self.words(value))") }
        return value
    }

    private func header(_ line: JSON) throws(RecordingFault) {
        guard line["trestle"] == "recording" else {
            throw fault(#"expected {"trestle":"recording",…}: this is not a recording of trestle record"#)
        }
        guard line["version"]?.int64Value == Recording.version else {
            throw fault(
                "expected version \(Recording.version); got \(Self.words(line["version"])): "
                    + "another trestle has written it")
        }
    }

    // MARK: Lines

    private mutating func traffic(_ line: JSON) throws(RecordingFault) {
        guard !recording.isWhole else { throw fault("expected nothing after the end line") }
        let kind = try text("kind", line)
        let offset = try count("offsetUs", line)
        guard offset >= self.offset else {
            throw fault("$.offsetUs: expected at least \(self.offset), that of the line before; got \(offset)")
        }
        self.offset = offset
        switch kind {
        case "call": try call(line)
        case "forward": try forward(line)
        case "callback": try callback(line)
        case "refused": recording.refusals += 1
        case "lost": recording.lostLines += try count("count", line)
        case "end": recording.isWhole = true
        case "progress", "event", "ask", "decision": break
        default:
            throw fault(
                "$.kind: expected call, ask, decision, forward, progress, callback, refused, event, lost or end; got "
                    + Self.words(line["kind"]))
        }
    }

    private mutating func call(_ line: JSON) throws(RecordingFault) {
        let number = try count("call", line)
        guard seen.insert(number).inserted else { throw fault("call \(number) began before: each begins once") }
        let task = try text("task", line)
        guard let options = line["options"] else { throw fault("$.options: expected any JSON; got nothing") }
        // A plugin's call for a session appears again as that session's own call.
        guard line["session"] != nil, line["plugin"] == nil else {
            recording.foreignCalls += 1
            return
        }
        let session = try count("session", line)
        let isCut = line["optionsBytes"] != nil
        indices[number] = recording.calls.count
        recording.calls.append(
            RecordedCall(
                line: self.line, number: number, session: session, task: task,
                options: isCut
                    ? .cut : Recording.has(Recording.placeholder, in: options) ? .masked : .whole(options),
                hasStream: Recording.hasStream(options, isCut: isCut), isOneWay: line["oneWay"] == true,
                offset: .microseconds(offset)))
    }

    private mutating func forward(_ line: JSON) throws(RecordingFault) {
        if let index = indices[try count("call", line)] { recording.calls[index].wasForwarded = true }
    }

    private mutating func callback(_ line: JSON) throws(RecordingFault) {
        let number = try count("call", line)
        let (result, error) = (line["result"], line["error"])
        guard (result == nil) != (error == nil) else {
            throw fault("expected a result or an error; got \(result == nil ? "neither" : "both")")
        }
        let took = line["durationUs"] == nil ? 0 : try count("durationUs", line)
        let outcome = try outcome(result, error, line)
        // A call that began before the recording has no index.
        guard let index = indices[number] else { return }
        guard recording.calls[index].outcome == nil else { throw fault("call \(number) ended before: each ends once") }
        recording.calls[index].endLine = self.line
        recording.calls[index].took = .microseconds(took)
        recording.calls[index].outcome = outcome
        if let result, Recording.hasStream(result, isCut: line["resultBytes"] != nil) {
            recording.calls[index].hasStream = true
        }
    }

    private func outcome(_ result: JSON?, _ error: JSON?, _ line: JSON) throws(RecordingFault) -> RecordedCall.Outcome {
        if let result {
            guard line["resultBytes"] != nil else { return .result(result) }
            return .cut(isError: false, beginning: try beginning("result", line))
        }
        guard line["errorBytes"] == nil else { return .cut(isError: true, beginning: try beginning("error", line)) }
        guard let error, error["code"]?.stringValue != nil else {
            throw fault("$.error: expected an object with a code; got \(Self.words(error))")
        }
        return .error(error)
    }

    private func beginning(_ member: String, _ line: JSON) throws(RecordingFault) -> String {
        let text = try text(member, line)
        return text.hasSuffix("…") ? String(text.dropLast()) : text
    }

    // MARK: Members

    private func text(_ member: String, _ line: JSON) throws(RecordingFault) -> String {
        guard let text = line[member]?.stringValue else {
            throw fault("$.\(member): expected a string; got \(Self.words(line[member]))")
        }
        return text
    }

    private func count(_ member: String, _ line: JSON) throws(RecordingFault) -> Int64 {
        guard let count = line[member]?.int64Value, count >= 0 else {
            throw fault("$.\(member): expected an integer of at least 0; got \(Self.words(line[member]))")
        }
        return count
    }

    private static let maximumTextBytes = 60

    private static func words(_ value: JSON?) -> String {
        value.map { PlainText.cut(PlainText.line($0.text), to: maximumTextBytes) } ?? "nothing"
    }
}
