package import BridgeJSON

// The options of the daemon's tasks for streams: docs/daemon-tasks.md.

/// The options of the tasks `bridge.stream.…`, without the members `stream` and `call`.
package enum StreamOptions {
    /// Returns the options of `new`, for the writer.
    ///
    /// - Parameter attaches: Whether the writer's end becomes a pipe, if the daemon can pass one.
    package static func new(type: String?, totalBytes: Int?, attaches: Bool) -> JSONObject {
        var options: JSONObject = ["side": "write"]
        if attaches { options["attach"] = true }
        options["type"] = type.map(JSON.string)
        options["bytes"] = totalBytes.map { .number(JSONNumber($0)) }
        return options
    }

    /// Returns the options of `write`.
    package static func write(_ bytes: ArraySlice<UInt8>) -> JSONObject {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64Coding.encode($0, to: &text) }
        return ["base64": .string(String(decoding: text, as: UTF8.self))]
    }

    /// The end of a stream that a holder has. Specified if it may have both.
    package enum Side: String, Sendable {
        case write
        case read
    }

    /// Returns the options of `close`, for a side that has counted `byteCount` bytes.
    package static func close(_ byteCount: Int) -> JSONObject { ["bytes": .number(JSONNumber(byteCount))] }

    /// The maximum length of the message of an error that ends a stream, as JSON. The line then fits into the smallest
    /// message limit, 1 KiB.
    private static let maximumReasonBytes = 600

    /// Returns the options of `close` before the end.
    ///
    /// - Parameter error: The reason for the other side, truncated if it is too long; `nil` for none.
    package static func leave(_ error: BridgeError?) -> JSONObject {
        guard let error else { return [:] }
        return ["error": ["code": .string(error.code.rawValue), "message": .string(reason(error.message))]]
    }

    private static func reason(_ text: String) -> String {
        var byteCount = maximumReasonBytes
        while true {
            let reason = text.cut(toBytes: byteCount)
            let jsonBytes = JSON.string(reason).bytes.count
            guard jsonBytes > maximumReasonBytes else { return reason }
            byteCount = byteCount * maximumReasonBytes / jsonBytes
        }
    }
}
