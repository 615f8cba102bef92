// TOMLDocument: a TOML file as values with their positions.
//
// A document is parsed as a whole (by toml++, through CTomlplusplus) into a plain Swift tree. Every key and every value
// has its line and column, so that code that later refuses a value can report its position. This module does not
// interpret the values.
import CTomlplusplus
import Glibc

/// A parsed TOML document. A plain value; any thread.
public struct TOMLDocument: Sendable, Hashable {
    /// The name of the file in messages.
    public let file: String
    /// The root table, with its keys in the order of the document.
    public let root: TOMLTable

    /// The maximum size of a document in bytes. A configuration file has a few KiB; the limit only keeps a wrong path
    /// (a device, a database) from filling the memory.
    public static let maximumBytes = 1 << 20

    /// The maximum nesting of tables and arrays, equal to the limit for messages on the wire.
    public static let maximumDepth = 128

    /// Parses `text`.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - file: The name to use in errors.
    /// - Throws: `TOMLError` with the position and the reason if `text` is not TOML 1.0, is longer than `maximumBytes`
    ///   or is nested deeper than `maximumDepth`.
    public init(parsing text: String, file: String) throws(TOMLError) {
        try self.init(bytes: Array(text.utf8), file: file)
    }

    /// Reads and parses the file at `path`, which is also its name in errors. Blocks.
    ///
    /// - Throws: `TOMLError`; with a `systemError` if the file cannot be read.
    public init(contentsOf path: String) throws(TOMLError) {
        try self.init(bytes: FileText.read(path, limitBytes: Self.maximumBytes), file: path)
    }

    /// Parses `bytes`. Bytes that are not UTF-8 are refused with their position.
    ///
    /// - Throws: `TOMLError`, as `init(parsing:file:)`.
    public init(bytes: [UInt8], file: String) throws(TOMLError) {
        guard bytes.count <= Self.maximumBytes else {
            throw TOMLError(file: file, reason: "longer than \(Self.maximumBytes) bytes, which no configuration is")
        }
        // toml++ recurses with the nesting and does not limit dotted keys, so this checks first.
        if let position = NestingCheck.firstTooDeep(in: bytes) {
            throw TOMLError(file: file, position: position, reason: TOMLTreeBuilder.tooDeep)
        }
        var builder = TOMLTreeBuilder()
        bytes.withUnsafeBufferPointer { buffer in
            // An empty array's base address may be null; toml++ requires one.
            buffer.withMemoryRebound(to: CChar.self) { builder.read($0) }
        }
        switch builder.result {
        case .success(let root):
            self.file = file
            self.root = root
        case .failure(let failure):
            throw TOMLError(file: file, position: failure.position, reason: failure.reason)
        }
    }
}

/// The reason why a document could not be read or parsed.
public struct TOMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the file, as its reader specified it.
    public let file: String
    /// The position in the file; `nil` if the error concerns the whole file.
    public let position: TOMLPosition?
    /// The reason, as text for people.
    public let reason: String
    /// The `errno` of the failed system call; `nil` if the file could be read.
    public let systemError: Int32?

    init(file: String, position: TOMLPosition? = nil, reason: String, systemError: Int32? = nil) {
        self.file = file
        self.position = position
        self.reason = reason
        self.systemError = systemError
    }

    /// Whether the file, or its directory, does not exist.
    public var isAbsentFile: Bool { systemError == ENOENT || systemError == ENOTDIR }

    /// `file:line:column: reason`.
    public var description: String {
        position.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)"
    }
}
