/// An entity tag, which identifies the version of a resource in a response. RFC 9110, section 8.8.3.
public struct EntityTag: Hashable, Sendable {
    /// Whether two versions with this tag may differ in their bytes.
    public var isWeak: Bool
    /// The text between the quotes.
    public let opaque: String

    /// Parses a tag; `nil` if the value is none. `W/` must be upper case, and the quotes are required.
    ///
    /// - Parameter value: The value, such as `"abc"` or `W/"abc"`.
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

    /// Returns whether both tags are strong and equal byte for byte: RFC 9110, section 8.8.3.2. False for weak tags.
    ///
    /// - Parameter other: The other tag.
    public func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && !other.isWeak && opaque == other.opaque }

    /// Returns whether the tags are equal in the weak comparison: RFC 9110, section 8.8.3.2.
    ///
    /// - Parameter other: The other tag.
    public func isWeaklyEqual(to other: EntityTag) -> Bool { opaque == other.opaque }

    /// Reads the tag that begins at the scanner's position; `nil` if there is none. A backslash is part of a tag and
    /// escapes nothing.
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

/// The condition of `If-None-Match` or `If-Match`: RFC 9110, sections 13.1.1 and 13.1.2.
public enum EntityTagList: Hashable, Sendable {
    /// Any version: `*`.
    case any
    /// One of these tags.
    case tags([EntityTag])

    /// The maximum number of tags that are read. There is one for each stored variant, and clients store fewer variants
    /// of a URL than this.
    public static let maximumTags = 256

    /// Reads the tags of all lines of a field; `nil` if there is no such field, if one of its members is no tag, or if
    /// there are more than ``maximumTags``.
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

    /// Returns whether the list contains a tag, with the weak comparison that `If-None-Match` requires: RFC 9110,
    /// section 13.1.2.
    ///
    /// - Parameter tag: The tag of a stored response; `nil` if it has none.
    public func contains(_ tag: EntityTag?) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { $0.isWeaklyEqual(to: tag) } } ?? false
        }
    }
}
