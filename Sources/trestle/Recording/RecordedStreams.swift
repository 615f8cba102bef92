import BridgeJSON

/// Keeps the names of streams out of a recording. A placeholder in the place of the name says that there was a stream.
struct RecordedStreams: Sendable {
    /// Where the options and the result of a task are streams, by its schemas.
    struct Places: Sendable {
        var options = StreamSchema(nil)
        var result = StreamSchema(nil)
    }

    /// Of the tasks whose calls were seen.
    private var places: [String: Places] = [:]

    /// A line of traffic, with the placeholder for each value that the task's schemas call a stream.
    ///
    /// - Parameter places: Finds those of a task. It is asked once for each.
    mutating func masked(_ line: JSON, _ places: (_ task: String) async -> Places) async -> JSON {
        guard let kind = line["kind"]?.stringValue, kind == "call" || kind == "callback",
            let task = line["task"]?.stringValue
        else { return line }
        let known: Places
        if let places = self.places[task] { known = places } else { known = await places(task) }
        self.places[task] = known
        var masked = line
        for path in known.options.paths { masked = Self.masked(masked, at: ["options"] + path) }
        for path in known.result.paths { masked = Self.masked(masked, at: ["result"] + path) }
        return masked
    }

    private static func masked(_ line: JSON, at path: [String]) -> JSON {
        guard line.value(at: path)?.stringValue != nil else { return line }
        return line.replacing(path[...], by: Recording.stream)
    }

    // MARK: Names

    private static let beginning = Array("stream:".utf8)
    private static let digitCount = 32
    private static let placeholder = Array("<stream>".utf8)
    /// What ends a payload that was cut.
    private static let cut = Array("…".utf8)

    /// The text of a line, with the placeholder for each name of a stream, wherever it stands: `stream:` and 32
    /// hexadecimal digits, or as many of them as were kept of a payload that was cut.
    static func withoutNames(_ line: [UInt8]) -> [UInt8] {
        var (text, position) = ([UInt8](), 0)
        while let end = endOfBeginning(in: line, from: position) {
            let digits = line[end...].prefix(digitCount).prefix { isDigit($0) }
            if digits.count == digitCount || line[digits.endIndex...].starts(with: cut) {
                text += line[position..<end - beginning.count] + placeholder
            } else {
                text += line[position..<digits.endIndex]
            }
            position = digits.endIndex
        }
        return position == 0 ? line : text + line[position...]
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// The end of the next `stream:`.
    private static func endOfBeginning(in line: [UInt8], from position: Int) -> Int? {
        var next = position
        while let colon = line[next...].firstIndex(of: UInt8(ascii: ":")) {
            next = colon + 1
            if line[position..<next].suffix(beginning.count).elementsEqual(beginning) { return next }
        }
        return nil
    }
}
