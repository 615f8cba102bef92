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
        guard current == UInt8(ascii: "\""), let key = take(to: JSONText.endOfString(in: text, from: position))
        else { return nil }
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
        take(to: JSONText.endOfValue(in: text, from: position))
    }

    private mutating func skipSpace() {
        while current == 0x20 || current == 0x0A || current == 0x0D || current == 0x09 { position += 1 }
    }

    private mutating func take(to end: Int?) -> UnsafeRawBufferPointer? {
        guard let end else { return nil }
        defer { position = end }
        return UnsafeRawBufferPointer(rebasing: text[position..<end])
    }
}
