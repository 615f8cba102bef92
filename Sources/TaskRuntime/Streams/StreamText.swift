import BridgeJSON

/// Answers about streams, as JSON text.
enum StreamText {
    /// The maximum number of bytes around the result of a read in its message.
    private static let envelopeBytes = 256
    /// The maximum number of bytes for a read that specifies none.
    private static let usualReadBytes = 64 << 10
    /// The number of bytes that a read may always receive: with the longest type it fits into the shortest message
    /// limit, 1 KiB.
    private static let minimumReadBytes = 192

    /// Returns the maximum number of bytes for a read: no more than fit into a message.
    ///
    /// - Parameters:
    ///   - wanted: The maximum that the reader specified; `nil` if it specified none.
    ///   - announcement: The other members of the answer.
    static func readBytes(_ wanted: Int?, messageBytes: Int, _ announcement: OpenStream.Announcement?) -> Int {
        let room = messageBytes - envelopeBytes - read([], announcement?.type, announcement?.totalBytes).count
        return min(wanted ?? usualReadBytes, max(minimumReadBytes, room / 4 * 3))
    }

    /// Returns the JSON text of a result.
    static func text(_ result: StreamResult) -> [UInt8] {
        switch result {
        case .made(let name, let room, let end): made(name, room, isAttached: end != nil)
        case .room(let bytes): object(["room": .number(JSONNumber(bytes))])
        case .bytes(let bytes, let type, let totalBytes): read(bytes, type, totalBytes)
        case .attached(_, let type, let totalBytes): attached(type, totalBytes)
        case .end(let bytes): object(["end": true, "bytes": .number(JSONNumber(bytes))])
        case .receipt(let bytes, let fault): receipt(bytes, fault)
        }
    }

    private static func made(_ name: String, _ room: Int, isAttached: Bool) -> [UInt8] {
        var result: JSONObject = ["stream": .string(name), "room": .number(JSONNumber(room))]
        if isAttached { result["attached"] = true }
        return object(result)
    }

    private static func object(_ object: JSONObject) -> [UInt8] { JSON.object(object).bytes }

    private static func read(_ bytes: [UInt8], _ type: String?, _ totalBytes: UInt64?) -> [UInt8] {
        var text = Array(#"{"base64":""#.utf8)
        text.reserveCapacity(text.count + Base64Coding.textBytes(of: bytes.count) + 2)
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        text.append(UInt8(ascii: "\""))
        if let type { append("type", .string(type), to: &text) }
        if let totalBytes { append("totalBytes", .number(JSONNumber(totalBytes)), to: &text) }
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(_ name: String, _ value: JSON, to text: inout [UInt8]) {
        text += Array(",\"\(name)\":".utf8)
        value.write(to: &text)
    }

    private static func attached(_ type: String?, _ totalBytes: UInt64?) -> [UInt8] {
        var text: JSONObject = [:]
        text["type"] = type.map(JSON.string)
        text["totalBytes"] = totalBytes.map { .number(JSONNumber($0)) }
        return object(text)
    }

    private static func receipt(_ bytes: UInt64, _ fault: StreamFault?) -> [UInt8] {
        var receipt: JSONObject = ["bytes": .number(JSONNumber(bytes)), "complete": .bool(fault == nil)]
        receipt["by"] = fault.map { .string($0.by) }
        receipt["error"] = fault?.error?.json
        return object(receipt)
    }
}
