/// The kind of a JSON text, for errors.
enum TextKind {
    /// Returns the kind of a value that is not an object, by its first byte. The text is known to be JSON.
    static func name(of text: UnsafeRawBufferPointer) -> String {
        switch text.first {
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}
