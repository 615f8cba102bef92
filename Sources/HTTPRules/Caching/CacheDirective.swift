/// One member of `Cache-Control`: RFC 9111, section 5.2. Its name stands directly before the `=`.
struct CacheDirective {
    /// What stands behind the `=`.
    enum Argument: Hashable {
        case none
        /// A token, or a string in quotes without them.
        case text(String)
        /// Something behind the name that is no argument.
        case unreadable
    }

    /// In small letters.
    let name: String
    let argument: Argument

    /// The directive that a member of the list is; nil where it does not begin with a name.
    private init?(_ member: ArraySlice<UInt8>) {
        var scanner = FieldScanner(FieldText.decode(member))
        guard let name = scanner.token() else { return nil }
        self.name = FieldText.lowercase(name)
        if scanner.isAtEnd {
            argument = .none
        } else if scanner.skip("="), let text = scanner.tokenOrQuotedString(), scanner.isAtEnd {
            argument = .text(text)
        } else {
            argument = .unreadable
        }
    }

    /// The directives of all lines, in their order. Quotes that do not end take nothing of the next line.
    static func all(in fields: HeaderList) -> [CacheDirective] {
        fields.lazy.filter { $0.isNamed(FieldName.cacheControl) }
            .flatMap { FieldScanner.pieces(of: FieldText.bytes($0.value)) }
            .compactMap { $0.isEmpty ? nil : CacheDirective($0) }
    }

    /// The argument as seconds; nil where it is no number of them. A number in quotes is one: section 5.2.
    var seconds: Duration? {
        if case .text(let text) = argument { DeltaSeconds.parse(text) } else { nil }
    }

    /// Whether it stands alone, as directives that permit something do.
    var isBare: Bool { argument == .none }
}
