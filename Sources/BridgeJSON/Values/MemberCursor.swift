/// The members of an object, one after the other, as they are written.
///
/// Nothing is copied, and no value is made: the walk takes one pass over the bytes. The text has been checked; were it no
/// JSON after all, the walk would end early, and never leave it.
package struct MemberCursor {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    /// The members of `text`; of what is no object, none.
    package init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        skipSpace()
        if current == UInt8(ascii: "{") { position += 1 } else { position = text.count }
    }

    /// A NUL behind the end.
    private var current: UInt8 { position < text.count ? text[position] : 0 }

    /// The next member, its key with quotes; both are parts of the text.
    package mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        skipSpace()
        if current == UInt8(ascii: ",") { position += 1 }
        skipSpace()
        guard current == UInt8(ascii: "\""), let key = string() else { return nil }
        skipSpace()
        guard current == UInt8(ascii: ":") else { return nil }
        position += 1
        skipSpace()
        return value().map { (key, $0) }
    }

    private mutating func skipSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private func part(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: text[start..<position])
    }

    private mutating func string() -> UnsafeRawBufferPointer? {
        let start = position
        position += 1
        var isASCII = true
        while true {
            position = JSONText.endOfPlainText(in: text, from: position, &isASCII)
            guard position < text.count else { return nil }
            if current == UInt8(ascii: "\"") {
                position += 1
                return part(from: start)
            }
            position = min(position + 2, text.count)
        }
    }

    private mutating func value() -> UnsafeRawBufferPointer? {
        let start = position
        var depth = 0
        while position < text.count {
            switch current {
            case UInt8(ascii: "\""):
                guard string() != nil else { return nil }
                if depth == 0 { return part(from: start) }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The object's own end, behind a number or a word.
                if depth == 0 { return part(from: start) }
                depth -= 1
                if depth == 0 {
                    position += 1
                    return part(from: start)
                }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return part(from: start) }
            default: break
            }
            position += 1
        }
        return nil
    }
}
