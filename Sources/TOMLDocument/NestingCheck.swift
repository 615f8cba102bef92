// A look at a document's nesting before toml++ sees it.

/// Finds where a document goes deeper than toml++ may be trusted with.
///
/// toml++ recurses once per level and bounds brackets, but not the parts of a dotted key: one long key would run its
/// destructors off the stack. This check knows just enough of TOML to distinguish brackets and dots from strings and
/// comments; what it lets pass has at most `maximumDepth` brackets, each with a key of at most `maximumDepth` parts,
/// and the tree builder holds the exact bound.
struct NestingCheck {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var lineStart = 0
    private var brackets = 0
    private var dots = 0

    /// Brackets at once, and dots in one key: half the document's bound, so that their product, the depth that
    /// toml++ may see in the worst case, stays at a few thousand small stack frames.
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

    /// The column of the byte looked at last, in characters.
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
            // Never below 0: a stray closing bracket is toml++'s to complain about.
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

    /// Goes past a string, of one line or (opened by three quotes) of several. One that is not closed ends with its
    /// line or with the document: toml++ refuses it there.
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

    /// A string of several lines may end in one or two quotes of its own, before the three that close it.
    private mutating func skipQuotesBeforeTheEnd(_ quote: UInt8) {
        let end = min(index + 2, bytes.count)
        while index < end, bytes[index] == quote { index += 1 }
    }

    private func hasThree(_ quote: UInt8) -> Bool {
        index + 2 < bytes.count && bytes[index] == quote && bytes[index + 1] == quote && bytes[index + 2] == quote
    }
}
