import BridgeJSON

/// Removes the names of streams from a recording. A placeholder in place of a name shows that there was a stream.
struct RecordedStreams: Sendable {
    /// The places of streams in the options and the result of a task, from its schemas.
    struct Places: Sendable {
        var options = StreamSchema(nil)
        var result = StreamSchema(nil)
    }

    /// The places for the tasks whose calls were recorded.
    private var places: [String: Places] = [:]

    /// Returns a line of traffic with a placeholder for each value that is a stream by the task's schemas.
    ///
    /// - Parameter places: Returns the places for a task. Called once for each task.
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
    /// The end of a shortened payload.
    private static let cut = Array("…".utf8)

    /// Returns the text of a line with a placeholder for each stream name at any place: `stream:` and 32 hexadecimal
    /// digits, or fewer digits at the end of a shortened payload.
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

    /// Returns the end of the next `stream:`; `nil` if there is none.
    private static func endOfBeginning(in line: [UInt8], from position: Int) -> Int? {
        var next = position
        while let colon = line[next...].firstIndex(of: UInt8(ascii: ":")) {
            next = colon + 1
            if line[position..<next].suffix(beginning.count).elementsEqual(beginning) { return next }
        }
        return nil
    }
}
