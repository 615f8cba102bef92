package import BridgeJSON

// The options of the daemon's tasks about streams, and what their results mean: docs/daemon-tasks.md.

/// The options of `bridge.stream.` and a task, without `stream` and `call`.
package enum StreamOptions {
    /// Of `new`, by the writer.
    package static func new(type: String?, totalBytes: Int?) -> JSONObject {
        var options: JSONObject = ["side": "write"]
        options["type"] = type.map(JSON.string)
        options["bytes"] = totalBytes.map { .number(JSONNumber($0)) }
        return options
    }

    /// Of `write`.
    package static func write(_ bytes: ArraySlice<UInt8>) -> JSONObject {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return ["base64": .string(String(decoding: text, as: UTF8.self))]
    }

    /// Which end of a stream a holder has. Said where it may have both.
    package enum Side: String, Sendable {
        case write
        case read
    }

    /// Of `close`, by a side that has counted so many bytes.
    package static func close(_ byteCount: Int) -> JSONObject { ["bytes": .number(JSONNumber(byteCount))] }

    /// Of `close` before the end.
    ///
    /// - Parameter error: What the other side gets as the reason; nil: nothing.
    package static func leave(_ error: BridgeError?) -> JSONObject {
        guard let error else { return [:] }
        return ["error": ["code": .string(error.code.rawValue), "message": .string(error.message)]]
    }
}

/// A stream that `bridge.stream.new` has made.
package struct MadeStream: Sendable {
    package let name: String
    package let roomBytes: Int

    /// - Throws: `result.invalid`.
    package init(_ result: JSON) throws(BridgeError) {
        guard let name = result["stream"]?.stringValue, let room = result["room"]?.int64Value else {
            throw BridgeError(.resultInvalid, "the result of bridge.stream.new has no stream and no room")
        }
        self.name = name
        roomBytes = Int(clamping: room)
    }
}

/// The results of a writer's calls.
package enum StreamReceipt {
    /// The room that the result of `write` gives.
    package static func roomBytes(_ result: JSON) -> Int { Int(clamping: result["room"]?.int64Value ?? 0) }

    /// - Throws: `stream.closed` where the result of `close` does not say that the reader has every byte.
    package static func check(_ receipt: JSON) throws(BridgeError) {
        guard receipt["complete"] != true else { return }
        let given = receipt["error"].flatMap { BridgeError(json: $0) }
        let (by, bytes) = (receipt["by"] ?? "daemon", receipt["bytes"] ?? 0)
        var data: JSONObject = ["by": by, "bytes": bytes]
        data["error"] = given?.json
        let reason = given.map { ": \($0.message)" } ?? ""
        throw BridgeError(
            .streamClosed,
            "the \(by.stringValue ?? "daemon") ended the stream after \(bytes.text) bytes, before it was complete"
                + reason,
            data: .object(data), isTransient: given?.isTransient ?? false)
    }
}

/// The results of a reader's calls, one after the other.
package struct ReadBytes: Sendable {
    private var count: UInt64 = 0
    /// What the maker of the stream said of its bytes; nil: nothing, or none have come yet.
    package private(set) var announcement: ByteReader.Announcement?

    package init() {}

    /// Takes the result of a `read`.
    ///
    /// - Returns: The bytes, never none; nil: these were all.
    /// - Throws: `stream.invalid` where it has no bytes, or where they are not as many as were written.
    package mutating func take(_ result: JSON) throws(BridgeError) -> [UInt8]? {
        if result["end"] == true {
            try checkCount(result["bytes"])
            return nil
        }
        guard let bytes = result["base64"]?.stringValue.flatMap(Self.decode), !bytes.isEmpty else {
            throw BridgeError(.streamInvalid, "the result of bridge.stream.read has no bytes")
        }
        if count == 0 { announcement = Self.announcement(in: result) }
        count += UInt64(bytes.count)
        return bytes
    }

    private func checkCount(_ bytes: JSON?) throws(BridgeError) {
        guard bytes?.int64Value == Int64(count) else {
            throw BridgeError(.streamInvalid, "\(count) of the \(bytes?.text ?? "?") bytes of the stream came")
        }
    }

    /// What the maker of the stream said of its bytes, in the result of the first `read`, or of `attach`.
    package static func announcement(in result: JSON) -> ByteReader.Announcement? {
        let (type, total) = (result["type"]?.stringValue, result["totalBytes"]?.int64Value)
        guard type != nil || total != nil else { return nil }
        return ByteReader.Announcement(type: type, totalBytes: total.map { Int(clamping: $0) })
    }

    private static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { Base64Coding.decode(UnsafeRawBufferPointer($0)) }
    }
}
