/// Iterates over the members of an object in the order in which they are written.
///
/// Nothing is copied, and no value is created: one pass over the bytes is enough, even if it enters nested objects. The
/// text has been checked. If it is not JSON, the walk ends early and never leaves the text.
package struct MemberCursor {
    private let text: UnsafeRawBufferPointer
    private var position = 0

    /// Creates a cursor before the first member of the object in `text`; if `text` is another value, there are no
    /// members.
    package init(_ text: UnsafeRawBufferPointer) {
        self.text = text
        skipSpace()
        if !enter() { position = text.count }
    }

    /// The byte at the position; NUL after the end.
    private var current: UInt8 { position < text.count ? text[position] : 0 }

    /// Returns the next member, its key with quotes; both are parts of the text. Nil if there is none.
    package mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let key = nextKey() else { return nil }
        return value().map { (key, $0) }
    }

    // MARK: Step by step

    /// Returns the key of the next member, with its quotes. The caller then calls `value` or `enter`. Nil if there is
    /// none.
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

    /// Enters the object that is the value of the key: its members come next. Returns false if the value is not an
    /// object.
    package mutating func enter() -> Bool {
        guard current == UInt8(ascii: "{") else { return false }
        position += 1
        return true
    }

    /// Moves after the end of the object whose members have all been read. Returns false if it does not end here.
    package mutating func leave() -> Bool {
        skipSpace()
        guard current == UInt8(ascii: "}") else { return false }
        position += 1
        return true
    }

    /// Returns the value of the key and moves after it. Nil if the text ends within it.
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
