import BridgeJSON

// bridge.stream.new, write, read, close: bytes of any size from one caller to another.
extension TaskRuntime {
    var streamTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                stream: .edge, "bridge.stream.new", "Creates a stream, one end of which belongs to the caller.",
                StreamMaking.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                try makeStream(call, BridgeTasks.Task.decode(StreamMaking.self, options))
                return nil
            },
            BridgeTasks.Task(
                stream: .bytes, "bridge.stream.write", "Writes bytes to a stream.", StreamWriting.self,
                optionBytes: nil
            ) {
                [unowned self] call, options throws(BridgeError) in try writeStream(call, options)
            },
            BridgeTasks.Task(
                stream: .bytes, "bridge.stream.read", "Reads the next bytes of a stream, or its end.",
                StreamReading.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                let options = try BridgeTasks.Task.decode(StreamReading.self, options)
                try streams.read(call, from: options.stream, for: options.call, maximumBytes: options.bytes)
                return nil
            },
            BridgeTasks.Task(
                stream: .edge, "bridge.stream.attach", "Makes an end of a stream a pipe, and passes its descriptor.",
                StreamAttaching.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                let options = try BridgeTasks.Task.decode(StreamAttaching.self, options)
                let end = try streams.attach(call, to: options.stream, options.side?.side, for: options.call)
                streams.answer(call, end)
                return nil
            },
            BridgeTasks.Task(
                stream: .edge, "bridge.stream.close", "Closes an end of a stream.", StreamClosing.self
            ) {
                [unowned self] call, options throws(BridgeError) in
                let options = try BridgeTasks.Task.decode(StreamClosing.self, options)
                let error = try options.error.map { error throws(BridgeError) in try Self.closingError(error) }
                try streams.close(
                    call, options.stream, options.side?.side, for: options.call, bytes: options.bytes, error)
                return nil
            },
        ]
    }

    /// An end of a stream.
    private enum StreamOptionSide: String, Decodable, CaseIterable {
        case write
        case read

        var side: StreamSide { self == .write ? .writer : .reader }
    }

    private struct StreamMaking: Decodable {
        var side: StreamOptionSide?
        var call: UInt64?
        var type: String?
        var bytes: UInt64?
        var attach: Bool?
    }

    private struct StreamWriting: Decodable {
        var stream: String
        var call: UInt64?
        var base64: String
        var end: Bool?
    }

    /// The same options without the bytes.
    private struct StreamAddress: Decodable {
        var stream: String
        var call: UInt64?
        var end: Bool?
    }

    private struct StreamReading: Decodable {
        var stream: String
        var call: UInt64?
        var bytes: Int?
    }

    private struct StreamAttaching: Decodable {
        var stream: String
        var side: StreamOptionSide?
        var call: UInt64?
    }

    private struct StreamClosing: Decodable {
        var stream: String
        var side: StreamOptionSide?
        var call: UInt64?
        var bytes: UInt64?
        var error: JSON?
    }

    private func makeStream(_ call: Call, _ options: StreamMaking) throws(BridgeError) {
        let made = try streams.make(
            call, options.side?.side ?? .writer, for: options.call,
            OpenStream.Announcement(type: options.type, totalBytes: options.bytes),
            attaches: options.attach == true && rights.mayAttach(call, tasks))
        streams.answer(call, made)
    }

    private func writeStream(_ call: Call, _ options: UnsafeRawBufferPointer) throws(BridgeError) -> JSON? {
        try withMembers(["stream", "call", "end", "base64"], of: options, for: call) {
            [unowned self] call, members throws(BridgeError) in
            let usual = Self.usualAddress(members)
            let address = if let usual { usual } else { try members.decode(StreamAddress.self, without: "base64") }
            try streams.write(
                call, to: address.stream, for: address.call, Self.bytes(members["base64"]),
                isEnd: address.end ?? false)
            return .later
        }
    }

    /// Returns the address of a typical write, which has only the stream's name beside the bytes; `nil` for others. A
    /// decoder would take longer than the rest of the call.
    private static func usualAddress(_ members: OptionMembers) -> StreamAddress? {
        guard members["call"] == nil, members["end"] == nil else { return nil }
        return members.plainString("stream").map { StreamAddress(stream: $0) }
    }

    /// Returns the bytes of a base64 string; `nil` if it is not one. A slash may be escaped, as some encoders do.
    private static func bytes(_ text: UnsafeRawBufferPointer?) -> [UInt8]? {
        guard let text, text.count >= 2, text.first == UInt8(ascii: "\"") else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: text[1..<text.count - 1])
        if let bytes = Base64Coding.decode(content) { return bytes }
        return unescaped(content)?.withUnsafeBytes { Base64Coding.decode($0) }
    }

    /// Returns the text with unescaped slashes; `nil` if it contains any other escape. No other character of base64 has
    /// an escape of its own.
    private static func unescaped(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        var isEscaped = false
        for byte in text {
            if isEscaped, byte != UInt8(ascii: "/") { return nil }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            if !isEscaped { plain.append(byte) }
        }
        return plain
    }

    private static func closingError(_ json: JSON) throws(BridgeError) -> BridgeError {
        guard let error = BridgeError(json: json) else { throw .streamError("\(json.bytes.count) bytes") }
        return error
    }
}
