import BridgeJSON

/// Answers about streams, as JSON text.
enum StreamText {
    /// As much as stands around the result of a read in its message.
    private static let envelopeBytes = 256
    /// What a read gets at most that does not say.
    private static let usualReadBytes = 64 << 10
    /// What a read may get in any case: with the longest type it fits into the shortest message, of 1 KiB.
    private static let minimumReadBytes = 192

    /// How many bytes a read gets at most: no more than fit into a message.
    ///
    /// - Parameters:
    ///   - wanted: What the reader said; nil: nothing.
    ///   - announcement: What the answer has beside the bytes.
    static func readBytes(_ wanted: Int?, messageBytes: Int, _ announcement: OpenStream.Announcement?) -> Int {
        let room = messageBytes - envelopeBytes - read([], announcement).count
        return min(wanted ?? usualReadBytes, max(minimumReadBytes, room / 4 * 3))
    }

    /// What a read gets. The first answer says what the maker said of the bytes.
    static func read(_ bytes: [UInt8], _ announcement: OpenStream.Announcement?) -> [UInt8] {
        var text = Array(#"{"base64":""#.utf8)
        text.reserveCapacity(text.count + Base64Coding.textBytes(of: bytes.count) + 2)
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        text.append(UInt8(ascii: "\""))
        if let type = announcement?.type { append("type", .string(type), to: &text) }
        if let total = announcement?.totalBytes { append("totalBytes", .number(JSONNumber(total)), to: &text) }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(_ name: String, _ value: JSON, to text: inout [UInt8]) {
        text += Array(",\"\(name)\":".utf8)
        value.write(to: &text)
    }

    /// What a reader gets whose end is a pipe.
    static func announcement(_ announcement: OpenStream.Announcement?) -> JSON {
        var text: JSONObject = [:]
        text["type"] = announcement?.type.map(JSON.string)
        text["totalBytes"] = announcement?.totalBytes.map { .number(JSONNumber($0)) }
        return .object(text)
    }

    /// What a side gets that closes its end.
    static func receipt(_ bytes: UInt64, _ reason: StreamBreak?) -> JSON {
        var receipt: JSONObject = ["bytes": .number(JSONNumber(bytes)), "complete": .bool(reason == nil)]
        receipt["by"] = reason.map { .string($0.by) }
        receipt["error"] = reason?.given?.json
        return .object(receipt)
    }
}
