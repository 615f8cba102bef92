/// Goes through the members of an object in the order in which they are written.
///
/// Nothing is copied, and no value is made: the walk takes one pass over the bytes, also where it enters objects within
/// the object. The text has been checked; if it is not JSON after all, the walk ends early, and never leaves the text.
package struct MemberCursor {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    /// Before the first member of the object that `text` is; of another value there are none.
    package init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        skipSpace()
        if !enter() { position = text.count }
    }

    /// A NUL behind the end.
    private var current: UInt8 { position < text.count ? text[position] : 0 }

    /// The next member, its key with quotes; both are parts of the text. Nil: there is none.
    package mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let key = nextKey() else { return nil }
        return value().map { (key, $0) }
    }

    // MARK: Step by step

    /// The key of the next member, with its quotes. Its value is taken next, or entered. Nil: there is none.
    package mutating func nextKey() -> UnsafeRawBufferPointer? {
        skipSpace()
        if current == UInt8(ascii: ",") { position += 1 }
        skipSpace()
        guard current == UInt8(ascii: "\""), let key = string() else { return nil }
        skipSpace()
        guard current == UInt8(ascii: ":") else { return nil }
        position += 1
        skipSpace()
        return key
    }

    /// Goes into the object that is the value of the key: its members are next. False: the value is not an object.
    package mutating func enter() -> Bool {
        guard current == UInt8(ascii: "{") else { return false }
        position += 1
        return true
    }

    /// Goes behind the end of the object whose members are through. False: it has no end here.
    package mutating func leave() -> Bool {
        skipSpace()
        guard current == UInt8(ascii: "}") else { return false }
        position += 1
        return true
    }

    /// Takes the value of the key. Nil: the text ends within it.
    package mutating func value() -> UnsafeRawBufferPointer? {
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
}
