public import WebOrigins

/// The origin that a page represents: a web origin or an offline package. Compared by its parts, never by text.
public enum PageOrigin: Hashable, Sendable, CustomStringConvertible {
    /// A page of a server.
    case web(WebOrigin)
    /// A page of the package with this id.
    case package(String)

    /// The scheme of packages.
    public static let packageScheme = "trestle"
    /// The maximum length of a package id.
    static let maximumPackageBytes = 64

    /// Parses an origin, such as `https://a.example` or `trestle://notes`, without a path.
    ///
    /// - Parameter text: The text.
    /// - Throws: The reason if the text is not an origin; also for opaque origins, whose text is `null`.
    public init(_ text: some StringProtocol) throws(OriginRefusal) {
        let start = "\(Self.packageScheme)://"
        if text.hasPrefix(start) {
            let id = String(text.dropFirst(start.count))
            guard Self.isPackage(id) else {
                throw OriginRefusal(
                    "the id of a package has 1 to \(Self.maximumPackageBytes) of the characters a-z, 0-9, . and -")
            }
            self = .package(id)
            return
        }
        do throws(AddressRefusal) {
            self = .web(try WebOrigin(text))
        } catch {
            throw OriginRefusal(error.description)
        }
    }

    /// Creates the origin of an address in the engine's form; `nil` if it has none: `about:`, `data:`, `file:` …
    ///
    /// - Parameter uri: The address.
    public init?(ofURI uri: String) {
        guard let end = uri.firstRange(of: "://") else { return nil }
        let rest = uri[end.upperBound...]
        let authority = rest.prefix { !"/?#\\".contains($0) }
        // The engine omits user names from origins.
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard let origin = try? PageOrigin("\(uri[..<end.upperBound])\(host)") else { return nil }
        self = origin
    }

    private static func isPackage(_ id: String) -> Bool {
        (1...maximumPackageBytes).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                case UInt8(ascii: "."), UInt8(ascii: "-"): true
                default: false
                }
            }
    }

    /// The canonical text.
    public var text: String {
        switch self {
        case .web(let origin): origin.text
        case .package(let id): "\(Self.packageScheme)://\(id)"
        }
    }

    /// The same as `text`.
    public var description: String { text }

    /// The pattern of the documents of this origin, and of the other ports of its host: the engine's patterns have no
    /// ports.
    public var pattern: String {
        switch self {
        case .web(let origin): "\(origin.scheme.rawValue)://\(origin.host.text)/*"
        case .package: "\(text)/*"
        }
    }
}

/// The reason why a text is not an origin.
public struct OriginRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason in one sentence.
    public let description: String

    init(_ description: String) { self.description = description }
}
