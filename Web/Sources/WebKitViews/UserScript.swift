internal import Glibc

/// A script that runs in documents to come.
public struct UserScript: Sendable, Hashable {
    /// When it runs.
    public enum Moment: Sendable, Hashable {
        /// Before any script of the document.
        case start
        /// When the document has been read.
        case end
    }

    /// The source.
    public var source: String
    /// When it runs.
    public var moment: Moment
    /// Whether it also runs in frames.
    public var isForAllFrames: Bool
    /// The isolated world in which it runs; nil: the page's own.
    public var world: String?
    /// The patterns of the documents in which it runs, such as `https://a.example/*`; nil: in all. WebKit's patterns
    /// have no ports.
    public var patterns: [String]?

    /// A script for the top frame.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - moment: When it runs.
    ///   - isForAllFrames: Whether it also runs in frames.
    ///   - world: The isolated world in which it runs; nil: the page's own.
    ///   - patterns: The patterns of the documents in which it runs; nil: in all.
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

    /// Hands texts to `body` as C has lists of them: with a null behind the last.
    static func withList(_ texts: [String]?, _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Void) {
        guard let texts else { return body(nil) }
        let copies = texts.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        copies.map { UnsafePointer($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}
