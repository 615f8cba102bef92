// TOMLDocument: a TOML file as values that know where they stand in it.
//
// A document is parsed whole (by toml++, behind CTomlplusplus) into a plain Swift tree: every key and every value
// bears its line and column, so that code that refuses a value later can point at it. Nothing here knows what the
// values mean.
import CTomlplusplus
import Glibc

/// A parsed TOML document. A plain value; any thread.
public struct TOMLDocument: Sendable, Hashable {
    /// The file as it is named in messages.
    public let file: String
    /// The root table, keys in the order in which the document has them.
    public let root: TOMLTable

    /// The longest document that is read, in bytes. A configuration file is a few KiB; this only keeps a wrong path
    /// (a device, a database) from filling memory.
    public static let maximumBytes = 1 << 20

    /// The deepest nesting of tables and arrays, the same bound as for messages on the wire.
    public static let maximumDepth = 128

    /// Parses `text`.
    ///
    /// - Parameters:
    ///   - text: The document.
    ///   - file: The name to use in errors.
    /// - Throws: `TOMLError` with the position and the reason where `text` is not TOML 1.0, longer than `maximumBytes`
    ///   or nested deeper than `maximumDepth`.
    public init(parsing text: String, file: String) throws(TOMLError) {
        try self.init(bytes: Array(text.utf8), file: file)
    }

    /// Reads and parses the file at `path`, which also names it in errors. Blocks.
    ///
    /// - Throws: `TOMLError`; with a `systemError` where the file cannot be read.
    public init(contentsOf path: String) throws(TOMLError) {
        try self.init(bytes: FileText.read(path, limitBytes: Self.maximumBytes), file: path)
    }

    /// Parses `bytes`, which need not be UTF-8 (what is not is refused with its position).
    ///
    /// - Throws: `TOMLError`, as `init(parsing:file:)`.
    public init(bytes: [UInt8], file: String) throws(TOMLError) {
        guard bytes.count <= Self.maximumBytes else {
            throw TOMLError(file: file, reason: "longer than \(Self.maximumBytes) bytes, which no configuration is")
        }
        // toml++ recurses with the nesting and does not bound dotted keys: look before it does.
        if let position = NestingCheck.firstTooDeep(in: bytes) {
            throw TOMLError(file: file, position: position, reason: TOMLTreeBuilder.tooDeep)
        }
        var builder = TOMLTreeBuilder()
        bytes.withUnsafeBufferPointer { buffer in
            // An empty array's base address may be nil; toml++ wants one.
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

/// Why a document could not be had.
public struct TOMLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file as its reader named it.
    public let file: String
    /// Where in it; nil where the trouble is the file as a whole.
    public let position: TOMLPosition?
    /// What is wrong, for a person.
    public let reason: String
    /// The `errno` of the system call that failed; nil where the file could be read.
    public let systemError: Int32?

    init(file: String, position: TOMLPosition? = nil, reason: String, systemError: Int32? = nil) {
        self.file = file
        self.position = position
        self.reason = reason
        self.systemError = systemError
    }

    /// There is no such file: its directory may be missing too.
    public var isAbsentFile: Bool { systemError == ENOENT || systemError == ENOTDIR }

    /// `file:line:column: reason`.
    public var description: String {
        position.map { "\(file):\($0): \(reason)" } ?? "\(file): \(reason)"
    }
}
