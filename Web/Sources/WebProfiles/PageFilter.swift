/// What pages do not load, do not show, or load by https.
public struct PageFilter: Sendable, Hashable, Codable {
    /// What happens to what it matches.
    public enum Action: String, Sendable, CaseIterable, Codable {
        /// It is not loaded.
        case block
        /// The elements of documents that `selector` names are not shown.
        case hide
        /// It is loaded by https where it is of http at its usual port.
        case https
    }

    /// What something is loaded as.
    public enum Kind: String, Sendable, CaseIterable, Codable {
        case document, image, script, font, media, popup
        case styleSheet = "style-sheet"
        case svgDocument = "svg-document"
        /// What scripts load.
        case raw
    }

    /// How many there may be.
    public static let maximum = 256
    /// The bytes of the texts of all.
    public static let maximumBytes = 64 << 10

    /// What happens.
    public var action: Action
    /// A regular expression for addresses, as WebKit's content filters have it; nil: all addresses.
    public var url: String?
    /// What they are loaded as; nil: anything.
    public var types: [Kind]?
    /// The domains of pages, `*` before one for those below it too; nil: all pages.
    public var domains: [String]?
    /// A selector of CSS for what is hidden.
    public var selector: String?

    /// A filter for all addresses and pages.
    ///
    /// - Parameter action: What happens.
    public init(_ action: Action) { self.action = action }

    /// What is wrong with it; nil: nothing.
    public var problem: String? {
        if (action == .hide) != (selector != nil) { return "hide needs a selector, and nothing else has one" }
        if types?.isEmpty == true || domains?.isEmpty == true { return "an empty list matches nothing; leave it out" }
        return nil
    }

    private var bytes: Int {
        (url?.utf8.count ?? 0) + (selector?.utf8.count ?? 0) + (types?.count ?? 0) * 16
            + (domains ?? []).reduce(0) { $0 + $1.utf8.count }
    }

    /// Whether there may be these together.
    ///
    /// - Parameter filters: All filters of a profile, or of clients.
    public static func areFew(_ filters: [PageFilter]) -> Bool {
        filters.count <= maximum && filters.reduce(0) { $0 + $1.bytes } <= maximumBytes
    }

    /// The sentence about filters that are too many.
    public static let limitText = "filters are \(maximum) at most, of \(maximumBytes) bytes together"
}
