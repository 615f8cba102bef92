/// A name between the quotes of a JSON text, which may contain escapes.
public enum WrittenName {
    /// Whether the written name represents these bytes. Nothing is allocated, and reading stops at the first
    /// difference: a text may have hundreds of thousands of names.
    ///
    /// - Parameters:
    ///   - written: The text between the quotes. If it is not valid JSON, nothing after its end is read.
    ///   - name: The name as UTF-8.
    public static func isSame(_ written: UnsafeRawBufferPointer, as name: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        var found = 0
        while index < written.count {
            guard found < name.count else { return false }
            let byte = written[index]
            if byte != UInt8(ascii: "\\") {
                guard byte == name[found] else { return false }
                index += 1
                found += 1
            } else {
                guard let scalar = Escapes.scalar(of: written, &index) else { return false }
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    guard found < name.count, byte == name[found] else { return false }
                    found += 1
                }
            }
        }
        return found == name.count
    }
}
