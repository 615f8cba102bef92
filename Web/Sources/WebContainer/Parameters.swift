public import WebProfiles

/// Public parameters: values that pages of some origins get at the named places.
public struct Parameters: Sendable, Hashable {
    /// A place where pages get the parameters.
    public enum Place: String, Sendable, Hashable, CaseIterable, Codable {
        /// In the query of the addresses of documents that the container loads.
        case url
        /// Headers of the requests for these documents.
        case header
        /// `TrestleParameters`, before the first script of each document.
        case js
    }

    /// The values by their names.
    public var values: [String: String] = [:]
    /// The places where pages get the values.
    public var places: Set<Place> = [.js]
    /// The origins whose pages get them; other pages do not.
    public var origins: Set<PageOrigin> = []

    /// Creates empty parameters.
    public init() {}

    /// Whether a text can be a parameter's name at every place.
    ///
    /// - Parameter name: The text.
    public static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Whether a text can be a parameter's value at every place: without control characters, at most 4,096 bytes.
    ///
    /// - Parameter value: The text.
    public static func isValue(_ value: String) -> Bool {
        value.utf8.count <= 4_096 && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    private func isFor(_ uri: String, _ place: Place) -> Bool {
        guard places.contains(place), !values.isEmpty, let origin = PageOrigin(ofURI: uri) else { return false }
        return origins.contains(origin)
    }

    /// Returns an address with the parameters in its query. A parameter that the address already has stays unchanged.
    ///
    /// - Parameter uri: The address.
    public func address(_ uri: String) -> String {
        guard isFor(uri, .url) else { return uri }
        let fragment = uri.firstIndex(of: "#") ?? uri.endIndex
        let query = uri[..<fragment].firstIndex(of: "?")
        let present = Set(
            query.map { uri[uri.index(after: $0)..<fragment] }?.split(separator: "&")
                .map { String($0.prefix { $0 != "=" }) } ?? [])
        let added = values.filter { !present.contains($0.key) }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(Self.escaped($0.value))" }.joined(separator: "&")
        guard !added.isEmpty else { return uri }
        let separator = query == nil ? "?" : uri[..<fragment].hasSuffix("?") ? "" : "&"
        return "\(uri[..<fragment])\(separator)\(added)\(uri[fragment...])"
    }

    /// Returns an address without the parameters that ``address(_:)`` adds, so that other parties do not receive them.
    ///
    /// - Parameter uri: The address.
    func removed(from uri: String) -> String {
        let fragment = uri.firstIndex(of: "#") ?? uri.endIndex
        guard isFor(uri, .url), let query = uri[..<fragment].firstIndex(of: "?") else { return uri }
        let own = Set(values.map { "\($0.key)=\(Self.escaped($0.value))" })
        let rest = uri[uri.index(after: query)..<fragment].split(separator: "&").filter { !own.contains(String($0)) }
            .joined(separator: "&")
        return "\(uri[..<query])\(rest.isEmpty ? "" : "?\(rest)")\(uri[fragment...])"
    }

    /// Returns the headers for the request of an address.
    ///
    /// - Parameter uri: The address.
    public func headers(_ uri: String) -> [(String, String)] {
        guard isFor(uri, .header) else { return [] }
        return values.sorted { $0.key < $1.key }.map { ($0.key, Self.escaped($0.value)) }
    }

    /// Returns a text in percent-encoding for the query of an address.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "~"):
                return String(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return "%\(digits.count == 1 ? "0" : "")\(digits)"
            }
        }.joined()
    }
}
