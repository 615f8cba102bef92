// A check of a document's nesting before toml++ parses it.

/// Finds the place where the nesting of a document is too deep for toml++.
///
/// toml++ recurses once per level. It limits brackets, but not the parts of a dotted key: the destructors for one long
/// key would overflow the stack. This check parses only as much TOML as distinguishes brackets and dots from strings
/// and comments. A document that passes has at most `bound` open brackets, each with a key of at most `bound` dots. The
/// tree builder enforces the exact limit.
struct NestingCheck {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var lineStart = 0
    private var brackets = 0
    private var dots = 0

    /// The maximum number of open brackets, and of dots in one key: half the document's limit. Their product is the
    /// depth that toml++ reaches in the worst case, a few thousand small stack frames.
    private static let bound = TOMLDocument.maximumDepth / 2

    static func firstTooDeep(in bytes: [UInt8]) -> TOMLPosition? {
        var check = NestingCheck(bytes)
        while check.index < bytes.count {
            check.step()
            if check.brackets > bound || check.dots > bound {
                return TOMLPosition(line: check.line, column: check.column)
            }
        }
        return nil
    }

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The column of the current byte, in characters.
    private var column: Int {
        bytes[lineStart..<min(index, bytes.count)].count { $0 & 0xC0 != 0x80 }
    }

    private mutating func step() {
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            skipString()
        case UInt8(ascii: "#"):
            while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            brackets += 1
            advance(endingKey: true)
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            // Never below 0: toml++ reports a stray closing bracket.
            brackets = max(0, brackets - 1)
            advance(endingKey: true)
        case UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "\n"):
            advance(endingKey: true)
        case UInt8(ascii: "."):
            dots += 1
            advance(endingKey: false)
        default:
            advance(endingKey: false)
        }
    }

    private mutating func advance(endingKey: Bool) {
        if endingKey { dots = 0 }
        if bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        index += 1
    }

    /// Skips a string, of one line or (opened by three quotes) of several. An unclosed string ends with its line or
    /// with the document, and toml++ refuses it there.
    private mutating func skipString() {
        let quote = bytes[index]
        let isBasic = quote == UInt8(ascii: "\"")
        let isMultiLine = hasThree(quote)
        index += isMultiLine ? 3 : 1
        while index < bytes.count {
            let byte = bytes[index]
            if isBasic, byte == UInt8(ascii: "\\") {
                index += 1
                if index < bytes.count { advance(endingKey: false) }
            } else if byte == quote, !isMultiLine || hasThree(quote) {
                index += isMultiLine ? 3 : 1
                if isMultiLine { skipQuotesBeforeTheEnd(quote) }
                return
            } else if byte == UInt8(ascii: "\n"), !isMultiLine {
                return
            } else {
                advance(endingKey: false)
            }
        }
    }

    /// Skips one or two quotes at the end of a multi-line string that precede the three closing ones.
    private mutating func skipQuotesBeforeTheEnd(_ quote: UInt8) {
        let end = min(index + 2, bytes.count)
        while index < end, bytes[index] == quote { index += 1 }
    }

    private func hasThree(_ quote: UInt8) -> Bool {
        index + 2 < bytes.count && bytes[index] == quote && bytes[index + 1] == quote && bytes[index + 2] == quote
    }
}
