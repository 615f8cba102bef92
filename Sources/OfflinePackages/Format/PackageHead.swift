import BridgeJSON

/// The properties of a package in its manifest, without its files.
public struct PackageHead: Sendable, Hashable {
    /// A request with a body that the package's scripts may send.
    public struct Accepted: Sendable, Hashable {
        /// The method, such as `POST`.
        public var method: String
        /// The prefix of the path.
        public var path: String
    }

    /// The identifier of the package, equal in all its versions.
    public var id: String
    /// The version: 1 to 64 letters, digits, dots, hyphens, plus signs and underscores.
    public var version: String
    /// The URL below which the files are; it ends with a slash.
    public var base: String?
    /// The origin that is requested for paths that are not in the package, if it has no `base`.
    public var network: String?
    /// The content security policy of its pages.
    public var csp: String?
    /// The requests with a body that its scripts may send, if it has no `base`.
    public var accepts: [Accepted] = []

    private static let maximumURLBytes = 2048
    private static let maximumPolicyBytes = 4096
    private static let maximumAccepted = 64
    static let members: Set<String> = ["id", "version", "base", "network", "csp", "accepts"]

    /// Reads the properties from a manifest.
    ///
    /// - Throws: `manifest`.
    init(_ object: JSONObject) throws(PackageFault) {
        id = try Self.text(object, "id") ?? ""
        version = try Self.text(object, "version") ?? ""
        base = try Self.text(object, "base")
        network = try Self.text(object, "network")
        csp = try Self.text(object, "csp")
        accepts = try Self.accepts(object["accepts"])
        try check()
    }

    private static func text(_ object: JSONObject, _ key: String) throws(PackageFault) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = value.stringValue else { throw PackageFault(.manifest, "\(key) is not a string") }
        return text
    }

    private static func accepts(_ json: JSON?) throws(PackageFault) -> [Accepted] {
        guard let json else { return [] }
        guard let elements = json.arrayValue, !elements.isEmpty, elements.count <= maximumAccepted else {
            throw PackageFault(.manifest, "accepts is not an array of 1 to \(maximumAccepted) elements")
        }
        var accepts: [Accepted] = []
        for element in elements {
            guard element.objectValue?.count == 2, let method = element["method"]?.stringValue,
                let path = element["path"]?.stringValue
            else {
                throw PackageFault(.manifest, "an element of accepts is not an object of method and path")
            }
            accepts.append(Accepted(method: method, path: path))
        }
        return accepts
    }

    // MARK: Rules

    private func check() throws(PackageFault) {
        guard Self.isID(id) else {
            throw PackageFault(
                .manifest,
                "id is not 1 to 64 lower-case letters, digits, hyphens and dots that begin and end with one "
                    + "of the first two")
        }
        guard Self.isVersion(version) else {
            throw PackageFault(
                .manifest,
                "version is not 1 to 64 letters, digits, dots, hyphens, plus and underscores that begin "
                    + "with one of the first two")
        }
        if let base { try Self.checkBase(base) }
        if let network { try Self.checkOrigin(network) }
        if let csp {
            guard !csp.isEmpty, csp.utf8.count <= Self.maximumPolicyBytes, Self.isPrintable(csp) else {
                throw PackageFault(.manifest, "csp is not a text of ASCII of 1 to \(Self.maximumPolicyBytes) bytes")
            }
        }
        for accepted in accepts { try Self.check(accepted) }
    }

    static func isID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, let last = bytes.last, bytes.count <= 64, !text.contains("..") else {
            return false
        }
        return isLow(first) && isLow(last) && bytes.allSatisfy { isLow($0) || $0 == 0x2D || $0 == 0x2E }
    }

    private static func isVersion(_ text: String) -> Bool {
        let isPlain: (UInt8) -> Bool = { isLow($0) || (0x41...0x5A).contains($0) }
        guard let first = text.utf8.first, text.utf8.count <= 64, isPlain(first) else { return false }
        return text.utf8.allSatisfy { isPlain($0) || "-._+".utf8.contains($0) }
    }

    /// Returns whether the byte is a lower-case letter or a digit.
    private static func isLow(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }

    static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    private static func checkBase(_ text: String) throws(PackageFault) {
        guard let rest = afterScheme(text), rest.first != "/", rest.hasSuffix("/"), !rest.contains(where: isTail) else {
            throw PackageFault(.manifest, "base is not a URL of http or https that ends with a slash")
        }
    }

    private static func checkOrigin(_ text: String) throws(PackageFault) {
        guard let rest = afterScheme(text), !rest.isEmpty, !rest.contains("/"), !rest.contains(where: isTail) else {
            throw PackageFault(.manifest, "network is not an origin of http or https, such as https://example.org")
        }
    }

    private static func isTail(_ character: Character) -> Bool { character == "?" || character == "#" }

    private static func afterScheme(_ text: String) -> Substring? {
        guard text.utf8.count <= maximumURLBytes, isPrintable(text), !text.contains(" ") else { return nil }
        for scheme in ["https://", "http://"] where text.hasPrefix(scheme) { return text.dropFirst(scheme.count) }
        return nil
    }

    private static func check(_ accepted: Accepted) throws(PackageFault) {
        let isMethod =
            (1...32).contains(accepted.method.utf8.count)
            && accepted.method.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        guard isMethod, accepted.path.hasPrefix("/"), accepted.path.utf8.count <= maximumURLBytes,
            isPrintable(accepted.path)
        else {
            throw PackageFault(.manifest, "an element of accepts has no method such as POST, or no path such as /api/")
        }
    }

    // MARK: Writing

    /// The members, in their order.
    var json: JSONObject {
        var object: JSONObject = ["id": .string(id), "version": .string(version)]
        object["base"] = base.map { .string($0) }
        object["network"] = network.map { .string($0) }
        object["csp"] = csp.map { .string($0) }
        if !accepts.isEmpty {
            object["accepts"] = .array(accepts.map { ["method": .string($0.method), "path": .string($0.path)] })
        }
        return object
    }
}
