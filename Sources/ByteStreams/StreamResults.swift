package import BridgeJSON

// The results of the daemon's tasks for streams.

/// A stream that `bridge.stream.new` has created.
package struct MadeStream: Sendable {
    package let name: String
    package let roomBytes: Int

    package init(name: String, roomBytes: Int) { (self.name, self.roomBytes) = (name, roomBytes) }

    /// - Throws: `result.invalid`.
    package init(_ result: JSON) throws(BridgeError) {
        guard let name = result["stream"]?.stringValue, let room = result["room"]?.int64Value else {
            throw BridgeError(.resultInvalid, "the result of bridge.stream.new has no stream or no room")
        }
        self.init(name: name, roomBytes: Int(clamping: room))
    }

    /// Whether the creator's end is a pipe, whose descriptor is sent with this result.
    package static func isAttached(_ result: JSON) -> Bool { result["attached"] == true }
}

/// The result of a writer's `write`.
package enum StreamAnswer {
    /// Returns the number of bytes that the writer may have unanswered.
    package static func roomBytes(_ result: JSON) -> Int { Int(clamping: result["room"]?.int64Value ?? 0) }
}

/// The result of a `close`: the extent of the transfer.
package struct StreamReceipt: Sendable {
    /// The number of bytes that the reader received.
    let bytes: UInt64
    /// The side that ended the stream before it was complete; `nil` if it is complete.
    let endedBy: String?
    let error: BridgeError?

    package init(bytes: UInt64, endedBy: String?, _ error: BridgeError?) {
        (self.bytes, self.endedBy, self.error) = (bytes, endedBy, error)
    }

    package init(_ result: JSON) {
        self.init(
            bytes: UInt64(clamping: result["bytes"]?.int64Value ?? 0),
            endedBy: result["complete"] == true ? nil : result["by"]?.stringValue ?? "daemon",
            result["error"].flatMap { BridgeError(json: $0) })
    }

    /// - Throws: `stream.closed` if it does not state that the reader has every byte.
    package func check() throws(BridgeError) {
        guard let endedBy else { return }
        var data: JSONObject = ["by": .string(endedBy), "bytes": .number(JSONNumber(bytes))]
        data["error"] = error?.json
        let reason = error.map { ": \($0.message)" } ?? ""
        throw BridgeError(
            .streamClosed,
            "the \(endedBy) ended the stream after \(bytes) bytes, before it was complete" + reason,
            data: .object(data), isTransient: error?.isTransient ?? false)
    }
}

/// The result of a `read`.
package enum StreamChunk: Sendable {
    case bytes([UInt8], ByteReader.Announcement?)
    /// The end of the stream, with the total number of bytes.
    case end(bytes: UInt64)

    /// - Throws: `stream.invalid` if it is not a chunk.
    package init(_ result: JSON) throws(BridgeError) {
        if result["end"] == true {
            guard let bytes = result["bytes"]?.int64Value, bytes >= 0 else { throw Self.noBytes }
            self = .end(bytes: UInt64(bytes))
        } else {
            guard let bytes = result["base64"]?.stringValue.flatMap(Self.decode) else { throw Self.noBytes }
            self = .bytes(bytes, Self.announcement(in: result))
        }
    }

    fileprivate static let noBytes = BridgeError(.streamInvalid, "the result of bridge.stream.read has no bytes")

    private static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { Base64Coding.decode(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the announcement of the stream's creator, from the result of the first `read` or of `attach`; `nil` if
    /// there is none.
    package static func announcement(in result: JSON) -> ByteReader.Announcement? {
        let (type, total) = (result["type"]?.stringValue, result["totalBytes"]?.int64Value)
        return ByteReader.Announcement(type: type, totalBytes: total.map { UInt64(clamping: $0) })
    }
}

extension ByteReader.Announcement {
    /// Creates an announcement; `nil` if neither value is specified.
    package init?(type: String?, totalBytes: UInt64?) {
        guard type != nil || totalBytes != nil else { return nil }
        self.init(type: type, totalBytes: totalBytes.map { Int(clamping: $0) })
    }
}

/// The bytes that a reader receives in messages, one after the other.
package struct ReadBytes: Sendable {
    private var count: UInt64 = 0
    /// The announcement of the stream's creator; `nil` if there is none, or if no bytes were received yet.
    package private(set) var announcement: ByteReader.Announcement?

    package init() {}

    /// Takes the result of a `read`.
    ///
    /// - Returns: The bytes, never none; `nil` at the end of the stream.
    /// - Throws: `stream.invalid` if it has no bytes, or if the total differs from the number of received bytes.
    package mutating func take(_ chunk: StreamChunk) throws(BridgeError) -> [UInt8]? {
        switch chunk {
        case .end(let total):
            guard total == count else { throw .incomplete(count, of: total) }
            return nil
        case .bytes(let bytes, let announcement):
            guard !bytes.isEmpty else { throw StreamChunk.noBytes }
            if count == 0 { self.announcement = announcement }
            count += UInt64(bytes.count)
            return bytes
        }
    }
}

extension BridgeError {
    /// Returns the error for a reader that received another number of bytes than the total.
    static func incomplete(_ count: UInt64, of total: UInt64) -> BridgeError {
        BridgeError(.streamInvalid, "\(count) of the \(total) bytes of the stream were received")
    }
}
