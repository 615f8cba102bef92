extension SeededGenerator {
    /// The structural bytes of JSON, and bytes that are invalid there in UTF-8.
    public static let jsonBytes = Array("{}[]\",:\\u0e-+.tfn \t\n".utf8) + [0, 0x1F, 0x80, 0xC3, 0xED, 0xFF]

    /// Returns the bytes with a few changes: a byte replaced, removed or inserted, a piece removed or repeated, the
    /// rest removed.
    ///
    /// - Parameters:
    ///   - changes: The number of changes.
    ///   - alphabet: The bytes that are written in most cases; otherwise any byte.
    public mutating func mutate(
        _ bytes: [UInt8], changes: ClosedRange<Int> = 1...4, alphabet: [UInt8] = jsonBytes
    ) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: changes, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &self)
            let piece = bytes[index...].prefix(Int.random(in: 1...30, using: &self))
            switch Int.random(in: 0..<13, using: &self) {
            case 0: bytes.removeSubrange(index...)
            case 1, 2: bytes.removeSubrange(piece.indices)
            case 3, 4: bytes.insert(contentsOf: piece, at: index)
            case 5: bytes[index] = UInt8.random(in: 0...255, using: &self)
            case 6, 7: bytes[index] = alphabet.randomElement(using: &self) ?? 0
            case 8, 9: bytes.insert(alphabet.randomElement(using: &self) ?? 0, at: index)
            default: bytes.remove(at: index)
            }
        }
        return bytes
    }
}
