import Foundation
import TaskKit

// The parts of files that travel. A caller that may have begun one may do these, and no other.

struct DownloadReadTask: CopyTask {
    static let name = "persistence.download.read"
    static let summary = "Answers a part of a backup or an export, as base 64."
    struct Options: Codable, Sendable {
        var download: UInt64
        var offset: Int64
        var length: Int?
    }
    struct Result: Codable, Sendable {
        var data: String
    }
    let copies: StoreCopies

    func run(_ options: Options, _ call: Call) async throws -> Result {
        let file = try copies.download(options.download, of: call.caller.session)
        let length = options.length ?? Limits.partBytes
        guard (1...Limits.partBytes).contains(length) else {
            throw BridgeError.unfit(
                "$.length", expected: "integer from 1 to \(Limits.partBytes)", got: "number \(length)")
        }
        try checkOffset(options.offset)
        return try await call.blocking {
            Result(data: Data(try file.read(at: options.offset, count: length)).base64EncodedString())
        }
    }
}

struct DownloadEndTask: CopyTask {
    static let name = "persistence.download.end"
    static let summary = "Ends the download of a backup or an export; its copy in the daemon's directory is removed."
    struct Options: Codable, Sendable {
        var download: UInt64
    }
    let copies: StoreCopies

    func run(_ options: Options, _ call: Call) async throws -> NoOptions {
        try copies.endDownload(options.download, of: call.caller.session)
        return NoOptions()
    }
}

struct UploadTask: CopyTask {
    static let name = "persistence.upload"
    static let summary = "Begins the upload of a backup or an export, in parts."
    struct Result: Codable, Sendable {
        var upload: UInt64
    }
    let copies: StoreCopies

    func run(_ options: NoOptions, _ call: Call) async throws -> Result {
        let file = try copies.beginUpload(for: call.caller.session)
        do {
            try await call.blocking { try file.create() }
        } catch {
            try? copies.endUpload(file.id, of: call.caller.session)
            throw error
        }
        return Result(upload: file.id)
    }
}

/// Raw, so that its options, of which a part takes hundreds of kilobytes, are read on the lane of parts and not on the
/// loop's thread.
struct UploadWriteTask: RawTask {
    static let name = "persistence.upload.write"
    static let summary = "Takes a part of an upload, as base 64."
    /// Decoded on a lane.
    static var settings: TaskSettings {
        TaskSettings(permission: "store.copy", timeout: .unlimited, optionBytes: TaskSettings.anyOptionBytes)
    }
    static let optionsSchema: JSON? = try? JSONSchema.derive(from: Options.self)
    static var checksOptions: Bool { true }
    static let resultSchema: JSON? = try? JSONSchema.derive(from: Result.self)
    struct Options: Codable, Sendable {
        var upload: UInt64
        var offset: Int64
        var data: String
    }
    struct Result: Codable, Sendable {
        /// How long the upload is so far.
        var bytes: Int64
    }
    let copies: StoreCopies

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        let text = options.withUnsafeBytes { Array($0) }
        let reply = HeldReply(reply)
        copies.onLaneOfParts {
            reply.give(Swift.Result { try write(text, call) }.mapError { BridgeError(part: $0) })
        }
    }

    private func write(_ text: [UInt8], _ call: Call) throws -> [UInt8] {
        if call.isCancelled { throw BridgeError.cancelled }
        let options = try text.withUnsafeBytes { try JSONCoding.decode(Options.self, from: $0) }
        let file = try copies.upload(options.upload, of: call.caller.session)
        try checkOffset(options.offset)
        guard let bytes = Data(base64Encoded: options.data) else {
            throw BridgeError.unfit("$.data", expected: "base 64", got: "something else")
        }
        return try JSONCoding.encode(Result(bytes: try file.write(Array(bytes), at: options.offset)))
    }
}

extension BridgeError {
    fileprivate init(part error: any Error) {
        self = (error as? JSONMismatch).map { BridgeError($0) } ?? BridgeError(storage: error)
    }
}

struct UploadEndTask: CopyTask {
    static let name = "persistence.upload.end"
    static let summary = "Gives an upload up; what came of it is removed."
    struct Options: Codable, Sendable {
        var upload: UInt64
    }
    let copies: StoreCopies

    func run(_ options: Options, _ call: Call) async throws -> NoOptions {
        try copies.endUpload(options.upload, of: call.caller.session)
        return NoOptions()
    }
}

/// Offsets in a file of up to 2^53 bytes, up to which numbers are exact everywhere.
private func checkOffset(_ offset: Int64) throws(BridgeError) {
    guard (0...1 << 53).contains(offset) else {
        throw .unfit("$.offset", expected: "integer from 0 to \(1 << 53)", got: "number \(offset)")
    }
}
