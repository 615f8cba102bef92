/// A name as it stands between the quotes of a text, which may write it with escapes.
public enum WrittenName {
    /// Whether it stands for these bytes. Nothing is allocated, and no more of it is looked at than can stand for them:
    /// a text may have hundreds of thousands of names.
    ///
    /// - Parameters:
    ///   - written: What stands between the quotes. Where it is no part of JSON, it is not read beyond its end.
    ///   - name: UTF-8.
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
