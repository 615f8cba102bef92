internal import Glibc

/// A script that runs in future documents.
public struct UserScript: Sendable, Hashable {
    /// The moment at which a script runs.
    public enum Moment: Sendable, Hashable {
        /// Before any script of the document.
        case start
        /// When the document has been parsed.
        case end
    }

    /// The source.
    public var source: String
    /// The moment at which it runs.
    public var moment: Moment
    /// Whether it also runs in frames.
    public var isForAllFrames: Bool
    /// The isolated world in which it runs; `nil` for the page's own.
    public var world: String?
    /// The patterns of the documents in which it runs, such as `https://a.example/*`; `nil` for all documents. WebKit's
    /// patterns have no ports.
    public var patterns: [String]?

    /// Creates a script, by default for the top frame.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - moment: The moment at which it runs.
    ///   - isForAllFrames: Whether it also runs in frames.
    ///   - world: The isolated world in which it runs; `nil` for the page's own.
    ///   - patterns: The patterns of the documents in which it runs; `nil` for all documents.
    public init(
        _ source: String, at moment: Moment = .start, isForAllFrames: Bool = false, world: String? = nil,
        patterns: [String]? = nil
    ) {
        self.source = source
        self.moment = moment
        self.isForAllFrames = isForAllFrames
        self.world = world
        self.patterns = patterns
    }

    /// Passes texts to `body` as a null-terminated C array; `nil` as a null pointer.
    static func withList(_ texts: [String]?, _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Void) {
        guard let texts else { return body(nil) }
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        copies.map { UnsafePointer($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
