/// One member of `Cache-Control`: RFC 9111, section 5.2. The `=` follows its name directly.
struct CacheDirective {
    /// The argument after the `=`.
    enum Argument: Hashable {
        case none
        /// A token, or a quoted string without its quotes.
        case text(String)
        /// Text after the name that is not valid argument.
        case unreadable
    }

    /// The name, in lower case.
    let name: String
    let argument: Argument

    /// Parses a member of the list; `nil` if it does not begin with a name.
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

    /// Returns the directives of all lines, in their order. Unterminated quotes do not extend to the next line.
    static func all(in fields: HeaderList) -> [CacheDirective] {
        fields.lazy.filter { $0.isNamed(FieldName.cacheControl) }
            .flatMap { FieldScanner.pieces(of: FieldText.bytes($0.value)) }
            .compactMap { $0.isEmpty ? nil : CacheDirective($0) }
    }

    /// The argument as seconds; `nil` if it is not a number of seconds. A quoted number is accepted: section 5.2.
    var seconds: Duration? {
        if case .text(let text) = argument { DeltaSeconds.parse(text) } else { nil }
    }

    /// Whether there is no argument. Directives that permit something must have none.
    var isBare: Bool { argument == .none }
}
