import BridgeClient
import BridgeJSON
import FoundationEssentials
import Sodium

/// Moves the files of the persistence plugin over the bridge, in parts that fit into its messages.
///
/// Base 64 is Foundation's: libsodium's, which takes the same time for every byte lest it give secrets away, was half
/// of the work.
struct StoreTransfer {
    let client: Bridge
    let progress: ProgressLine

    /// As many as the plugin takes.
    private static let maximumPartBytes = 256 << 10
    /// What stands around a part in its message, and more.
    private static let envelopeBytes = 256
    /// The shortest messages that a daemon can be configured to take.
    private static let shortestMessageBytes = 1 << 10

    private var partBytes: Int {
        let messageBytes = client.daemon?.limits.messageBytes ?? Self.shortestMessageBytes
        return min(Self.maximumPartBytes, (messageBytes - Self.envelopeBytes) / 4 * 3)
    }

    /// Writes a copy that the daemon has made to a file, and checks that all of it came.
    ///
    /// - Parameter copy: what `persistence.backup` or `persistence.export` answered.
    /// - Throws: ``BridgeError``, ``FileFailure``, `TransferFailure`.
    func download(_ copy: JSON, to file: OutputFile) async throws {
        guard let download = copy["download"], let bytes = copy["bytes"]?.int64Value else {
            throw TransferFailure("the daemon's answer is not understood: \(copy.text)")
        }
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < bytes {
            let result = try await client.callJSON(
                "persistence.download.read",
                [
                    "download": download, "offset": .number(JSONNumber(offset)),
                    "length": .number(JSONNumber(partBytes)),
                ])
            guard let part = result["data"]?.stringValue.flatMap({ Data(base64Encoded: $0) }), !part.isEmpty else {
                throw TransferFailure("the daemon's copy ended at byte \(offset) of \(bytes)")
            }
            part.withUnsafeBytes { hash.update($0) }
            try file.write(Array(part))
            offset += Int64(part.count)
            progress.show("\(ByteCount.text(offset)) of \(ByteCount.text(bytes)) came")
        }
        guard offset == bytes, copy["sha256"] == .string(hash.finish()) else {
            throw TransferFailure("what came differs from the daemon's copy: its SHA-256 is another one")
        }
        _ = try await client.callJSON("persistence.download.end", ["download": download])
    }

    /// Sends a file.
    /// - Returns: the options that name it to the task that uses it.
    /// - Throws: ``BridgeError``, ``FileFailure``.
    func upload(_ file: InputFile) async throws -> JSONObject {
        let upload = try await client.callJSON("persistence.upload")["upload"] ?? .null
        var hash = SHA256()
        var offset: Int64 = 0
        while case let part = try file.read(count: partBytes), !part.isEmpty {
            part.withUnsafeBytes { hash.update($0) }
            let options: JSON = [
                "upload": upload, "offset": .number(JSONNumber(offset)),
                "data": .string(Data(part).base64EncodedString()),
            ]
            _ = try await client.callJSON("persistence.upload.write", options)
            offset += Int64(part.count)
            let whole = file.length.map { " of \(ByteCount.text($0))" } ?? ""
            progress.show("\(ByteCount.text(offset))\(whole) sent")
        }
        return ["upload": upload, "bytes": .number(JSONNumber(offset)), "sha256": .string(hash.finish())]
    }
}

/// Why a file did not come over whole.
struct TransferFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
