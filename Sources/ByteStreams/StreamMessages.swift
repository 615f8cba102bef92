package import BridgeJSON

// The options of the daemon's tasks about streams, and what their results mean: docs/daemon-tasks.md.

/// The options of `bridge.stream.` and a task, without `stream` and `call`.
package enum StreamOptions {
    /// Of `new`, by the writer.
    ///
    /// - Parameter attaches: Whether its end is to be a pipe, where the daemon can pass one.
    package static func new(type: String?, totalBytes: Int?, attaches: Bool) -> JSONObject {
        var options: JSONObject = ["side": "write"]
        if attaches { options["attach"] = true }
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

    /// The longest message of such an error, as JSON: the line fits into the shortest message, of 1 KiB.
    private static let maximumReasonBytes = 600

    /// Of `close` before the end.
    ///
    /// - Parameter error: What the other side gets as the reason, cut where it is too long; nil: nothing.
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
