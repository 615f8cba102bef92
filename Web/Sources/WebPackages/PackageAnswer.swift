public import OfflinePackages

/// What is answered to a request for a file of a package. A plain value; the file is opened by whoever sends it.
public struct PackageAnswer: Sendable, Hashable {
    /// The status of HTTP.
    public var status: Int
    /// The file; nil: there is no body.
    public var file: PackageManifest.File?
    /// The fields, in their order.
    public var fields: [Field]

    /// A field of the answer.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
    }

    /// What a folder's address stands for.
    private static let index = "index.html"

    /// The answer to a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - uri: The address, `trestle://ID/PATH`.
    ///   - manifest: The package's.
    ///   - policy: The profile's content security policy. The package's own stands beside it, and cannot weaken it.
    public init(_ method: String, _ uri: String, _ manifest: PackageManifest, policy: String?) {
        guard method == "GET" || method == "HEAD" else {
            self.init(status: 405, file: nil, fields: [Field(name: "Allow", value: "GET, HEAD")])
            return
        }
        guard let file = Self.path(of: uri).flatMap({ manifest.file(at: $0) }) else {
            self.init(status: 404, file: nil, fields: [])
            return
        }
        var fields = [Field(name: "X-Content-Type-Options", value: "nosniff")]
        for policy in [policy, manifest.head.csp].compactMap({ $0 }) {
            fields.append(Field(name: "Content-Security-Policy", value: policy))
        }
        self.init(status: 200, file: file, fields: fields)
    }

    private init(status: Int, file: PackageManifest.File?, fields: [Field]) {
        self.status = status
        self.file = file
        self.fields = fields
    }

    /// The path of a file in an address; nil where it can be none's.
    static func path(of uri: String) -> String? {
        guard let start = uri.firstRange(of: "://") else { return nil }
        let rest = uri[start.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let path = rest.firstIndex(of: "/").map { rest[rest.index(after: $0)...] } ?? ""
        guard let decoded = decode(path) else { return nil }
        return decoded.isEmpty || decoded.hasSuffix("/") ? decoded + index : decoded
    }

    /// Takes percent signs away; nil where that makes no text.
    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ isHexDigit($0) }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
