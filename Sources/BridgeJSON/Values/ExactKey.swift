/// A key by its bytes, as RFC 8259 compares keys. Swift's own comparison takes two spellings of an accented letter for
/// one, and would lose one of two members.
struct ExactKey: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        // Nearly all keys differ in Swift's eyes already, which is cheap to tell.
        left.text == right.text && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
