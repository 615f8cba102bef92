package import BridgeJSON

// What the daemon's tasks about streams return, and what it means.

/// A stream that `bridge.stream.new` has made.
package struct MadeStream: Sendable {
    package let name: String
    package let roomBytes: Int

    package init(name: String, roomBytes: Int) { (self.name, self.roomBytes) = (name, roomBytes) }

    /// - Throws: `result.invalid`.
    package init(_ result: JSON) throws(BridgeError) {
        guard let name = result["stream"]?.stringValue, let room = result["room"]?.int64Value else {
            throw BridgeError(.resultInvalid, "the result of bridge.stream.new has no stream and no room")
        }
        self.init(name: name, roomBytes: Int(clamping: room))
    }

    /// Whether the maker's end is a pipe, whose descriptor comes with this result.
    package static func isAttached(_ result: JSON) -> Bool { result["attached"] == true }
}

/// The result of a writer's `write`.
package enum StreamAnswer {
    /// The room that it gives.
    package static func roomBytes(_ result: JSON) -> Int { Int(clamping: result["room"]?.int64Value ?? 0) }
}

/// The result of a `close`: how far the stream came.
package struct StreamReceipt: Sendable {
    /// How many bytes the reader got.
    let bytes: UInt64
    /// Who ended the stream before it was complete; nil: it is complete.
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

    /// - Throws: `stream.closed` where it does not say that the reader has every byte.
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
    /// These were all: so many.
    case end(bytes: UInt64)

    /// - Throws: `stream.invalid` where it is none.
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

    /// What the maker of the stream said of its bytes, in the result of the first `read`, or of `attach`.
    package static func announcement(in result: JSON) -> ByteReader.Announcement? {
        let (type, total) = (result["type"]?.stringValue, result["totalBytes"]?.int64Value)
        return ByteReader.Announcement(type: type, totalBytes: total.map { UInt64(clamping: $0) })
    }
}

extension ByteReader.Announcement {
    /// Nil: nothing is said.
    package init?(type: String?, totalBytes: UInt64?) {
        guard type != nil || totalBytes != nil else { return nil }
        self.init(type: type, totalBytes: totalBytes.map { Int(clamping: $0) })
    }
}

/// What a reader has got in messages, one after the other.
package struct ReadBytes: Sendable {
    private var count: UInt64 = 0
    /// What the maker of the stream said of its bytes; nil: nothing, or none have come yet.
    package private(set) var announcement: ByteReader.Announcement?

    package init() {}

    /// Takes the result of a `read`.
    ///
    /// - Returns: The bytes, never none; nil: these were all.
    /// - Throws: `stream.invalid` where it has no bytes, or where they are not as many as were written.
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
    /// To a reader that got other bytes than there are.
    static func incomplete(_ count: UInt64, of total: UInt64) -> BridgeError {
        BridgeError(.streamInvalid, "\(count) of the \(total) bytes of the stream came")
    }
}
