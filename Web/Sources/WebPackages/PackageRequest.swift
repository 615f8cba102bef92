/// A page's request to a package.
public struct PackageRequest: Sendable, Hashable {
    /// The field with which the shim marks a body that it has read: the engine ends the program if the body of another
    /// request is a blob or a file.
    public static let bodyMark = "Trestle-Body"

    /// A header field of a request or an answer.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a field.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - value: The value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The HTTP method.
    public var method: String
    /// The address, `trestle://ID/PATH`.
    public var uri: String
    /// The header fields.
    public var fields: [Field]

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - uri: The address, `trestle://ID/PATH`.
    ///   - fields: The header fields.
    public init(_ method: String, _ uri: String, fields: [Field] = []) {
        self.method = method
        self.uri = uri
        self.fields = fields
    }

    /// Whether requests with this method have no body.
    var isReading: Bool { method == "GET" || method == "HEAD" }

    /// Whether the body may be read.
    var isMarked: Bool { value(of: Self.bodyMark) != nil }

    /// Whether a document is requested, for the page or a frame.
    var isForDocument: Bool { value(of: "accept")?.hasPrefix("text/html") ?? false }

    private func value(of name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The path of a file in the address; `nil` if the address cannot be that of a file.
    var path: String? {
        guard let decoded = PercentText.decode(rawPath) else { return nil }
        return decoded.isEmpty || decoded.hasSuffix("/") ? decoded + Self.index : decoded
    }

    /// The file that a folder's address refers to.
    private static let index = "index.html"

    private var rawPath: Substring {
        guard let start = uri.firstRange(of: "://") else { return "" }
        let rest = uri[start.upperBound...].prefix { $0 != "?" && $0 != "#" }
        return rest.firstIndex(of: "/").map { rest[rest.index(after: $0)...] } ?? ""
    }

    /// The path and query for the network, as in the address; `nil` if servers could interpret the path in two ways. By
    /// bytes, as servers read it: a `Character` can combine a slash with an accent.
    var target: (path: String, text: String)? {
        let slash = UInt8(ascii: "/")
        guard let decoded = PercentText.decode(rawPath), decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            // A server may decode a remaining percent sign again, as of `%252e`.
            !decoded.utf8.contains(UInt8(ascii: "\\")), !decoded.utf8.contains(UInt8(ascii: "%")),
            decoded.utf8.count(where: { $0 == slash }) == rawPath.utf8.count(where: { $0 == slash }),
            decoded.utf8.split(separator: slash).allSatisfy({
                !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            })
        else { return nil }
        let query = uri.prefix { $0 != "#" }.firstIndex(of: "?").map { uri[$0...].prefix { $0 != "#" } } ?? ""
        return ("/\(decoded)", "/\(rawPath)\(query)")
    }
}
