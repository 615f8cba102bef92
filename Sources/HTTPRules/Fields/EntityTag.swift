/// An entity tag: which version of a resource a response is. RFC 9110, section 8.8.3.
public struct EntityTag: Hashable, Sendable {
    /// Whether two versions with this tag may differ in their bytes.
    public var isWeak: Bool
    /// What stands between the quotes.
    public let opaque: String

    /// The tag that a value is; nil where it is none. `W/` is a capital letter, and the quotes belong to a tag.
    ///
    /// - Parameter value: Such as `"abc"` or `W/"abc"`.
    public init?(_ value: some StringProtocol) {
        var scanner = FieldScanner(value)
        guard let tag = Self.next(in: &scanner), scanner.isAtEnd else { return nil }
        self = tag
    }

    private init(isWeak: Bool, opaque: String) {
        self.isWeak = isWeak
        self.opaque = opaque
    }

    /// The tag as it is written in fields.
    public var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

    /// Whether both say the same, byte for byte: RFC 9110, section 8.8.3.2. Weak tags never do.
    ///
    /// - Parameter other: The other tag.
    public func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Whether one may stand for the other: RFC 9110, section 8.8.3.2.
    ///
    /// - Parameter other: The other tag.
    public func isWeaklyEqual(to other: EntityTag) -> Bool { opaque == other.opaque }

    /// The tag that begins where the scanner is. A backslash is part of a tag, and escapes nothing.
    static func next(in scanner: inout FieldScanner) -> EntityTag? {
        var isWeak = false
        if scanner.skip("W") {
            guard scanner.skip("/") else { return nil }
            isWeak = true
        }
        guard scanner.skip("\"") else { return nil }
        let opaque = scanner.prefix { $0 == 0x21 || ($0 >= 0x23 && $0 != 0x7F) }
        guard scanner.skip("\"") else { return nil }
        return EntityTag(isWeak: isWeak, opaque: FieldText.decode(opaque))
    }
}

/// What `If-None-Match` and `If-Match` ask for: RFC 9110, sections 13.1.1 and 13.1.2.
public enum EntityTagList: Hashable, Sendable {
    /// `*`: any version.
    case any
    /// One of these.
    case tags([EntityTag])

    /// How many tags are read: there is one for each stored variant, and nobody stores more of a URL.
    public static let maximumTags = 256

    /// The tags of all lines of a field; nil where there is no such field, or where one of its members is no tag.
    ///
    /// - Parameters:
    ///   - name: `If-None-Match` or `If-Match`.
    ///   - fields: The fields of a request.
    public init?(named name: String, in fields: HeaderList) {
        let values = fields.values(named: name)
        guard !values.isEmpty else { return nil }
        if values.count == 1, values[0] == "*" {
            self = .any
            return
        }
        var tags: [EntityTag] = []
        for value in values {
            var scanner = FieldScanner(value)
            while !scanner.isAtEnd {
                scanner.skipWhitespace()
                if scanner.skip(",") || scanner.isAtEnd { continue }
                guard tags.count < Self.maximumTags, let tag = EntityTag.next(in: &scanner) else { return nil }
                tags.append(tag)
                scanner.skipWhitespace()
                guard scanner.isAtEnd || scanner.skip(",") else { return nil }
            }
        }
        self = .tags(tags)
    }

    /// Whether a tag is among them, compared weakly, as `If-None-Match` asks: RFC 9110, section 13.1.2.
    ///
    /// - Parameter tag: The tag of a stored response; nil where it has none.
    public func contains(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.isWeaklyEqual(to: tag) } } ?? false
        }
    }
}
