/// A filter: content that pages do not load, do not show, or load by https.
public struct PageFilter: Sendable, Hashable, Codable {
    /// The action on matching content.
    public enum Action: String, Sendable, CaseIterable, Codable {
        /// It is not loaded.
        case block
        /// The elements of documents that `selector` names are not shown.
        case hide
        /// It is loaded by https if its address is of http at the default port.
        case https
    }

    /// The kind of content.
    public enum Kind: String, Sendable, CaseIterable, Codable {
        case document, image, script, font, media, popup
        case styleSheet = "style-sheet"
        case svgDocument = "svg-document"
        /// Content that scripts load.
        case raw
    }

    /// The maximum number of filters.
    public static let maximum = 256
    /// The maximum number of bytes in the texts of all filters.
    public static let maximumBytes = 64 << 10

    /// The action.
    public var action: Action
    /// A regular expression for addresses, in the form of WebKit's content filters; `nil` for all addresses.
    public var url: String?
    /// The kinds of content; `nil` for all.
    public var types: [Kind]?
    /// The domains of pages, with `*` before a domain to include its subdomains; `nil` for all pages.
    public var domains: [String]?
    /// The CSS selector of hidden elements; `nil` for other actions.
    public var selector: String?

    /// Creates a filter for all addresses and pages.
    ///
    /// - Parameter action: The action.
    public init(_ action: Action) { self.action = action }

    /// The problem of the filter; `nil` for none.
    public var problem: String? {
        if (action == .hide) != (selector != nil) { return "hide needs a selector, and no other action may have one" }
        if types?.isEmpty == true || domains?.isEmpty == true { return "an empty list matches nothing; leave it out" }
        return nil
    }

    private var bytes: Int {
        (url?.utf8.count ?? 0) + (selector?.utf8.count ?? 0) + (types?.count ?? 0) * 16
            + (domains ?? []).reduce(0) { $0 + $1.utf8.count }
    }

    /// Whether these filters are within the limits together.
    ///
    /// - Parameter filters: All filters of a profile, or of clients.
    public static func areFew(_ filters: [PageFilter]) -> Bool {
        filters.count <= maximum && filters.reduce(0) { $0 + $1.bytes } <= maximumBytes
    }

    /// The message about too many filters.
    public static let limitText = "there are at most \(maximum) filters, of \(maximumBytes) bytes together"
}
