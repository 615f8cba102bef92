/// The header of a file in a tar (POSIX ustar). Each path and length has exactly one header: no owner, no time, no
/// link, no other kind of entry. An archive is therefore read by comparing its headers with the expected ones.
enum TarHeader {
    static let blockBytes = 512
    private static let nameBytes = 100
    /// One byte less than the field, as in GNU tar.
    private static let prefixBytes = 154
    private static let size = 124..<136
    private static let checksum = 148..<156
    private static let prefix = 345

    /// Returns whether a header can represent a path.
    static func fits(_ path: String) -> Bool { split(path) != nil }

    /// Returns the header.
    ///
    /// - Parameters:
    ///   - path: A path that ``fits(_:)``.
    ///   - byteCount: The length of the file, below 8 GiB.
    static func bytes(_ path: String, _ byteCount: Int64) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockBytes)
        let parts = split(path) ?? ([], [])
        put(parts.name, at: 0, in: &block)
        put(octal(0o644, 7), at: 100, in: &block)
        for field in [108, 116, 329, 337] { put(octal(0, 7), at: field, in: &block) }
        put(octal(byteCount, 11), at: size.lowerBound, in: &block)
        put(octal(0, 11), at: 136, in: &block)
        block[156] = UInt8(ascii: "0")
        put(Array("ustar\0".utf8) + Array("00".utf8), at: 257, in: &block)
        put(parts.prefix, at: prefix, in: &block)
        for index in checksum { block[index] = UInt8(ascii: " ") }
        let sum = block.reduce(Int64(0)) { $0 + Int64($1) }
        put(octal(sum, 6) + [0], at: checksum.lowerBound, in: &block)
        return block
    }

    /// Returns the length of the file that follows the header; `nil` if the header contains no valid length.
    static func byteCount(of block: [UInt8]) -> Int64? {
        let digits = block[size].dropLast()
        guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 << 3 | Int64($1 - 0x30) }
    }

    /// Returns the number of bytes between the end of a file and the next header.
    static func paddingBytes(after byteCount: Int64) -> Int64 {
        (Int64(blockBytes) - byteCount % Int64(blockBytes)) % Int64(blockBytes)
    }

    /// The two blocks at the end.
    static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

    /// Splits a path into folders and the rest.
    private static func split(_ path: String) -> (prefix: [UInt8], name: [UInt8])? {
        let bytes = Array(path.utf8)
        guard bytes.count > nameBytes else { return ([], bytes) }
        // The shortest prefix that is sufficient.
        for index in bytes.indices where bytes[index] == UInt8(ascii: "/") && bytes.count - index - 1 <= nameBytes {
            return index <= prefixBytes ? (Array(bytes[..<index]), Array(bytes[(index + 1)...])) : nil
        }
        return nil
    }

    private static func octal(_ number: Int64, _ digits: Int) -> [UInt8] {
        (0..<digits).reversed().map { UInt8(0x30 + (number >> Int64($0 * 3)) & 7) }
    }

    private static func put(_ bytes: [UInt8], at index: Int, in block: inout [UInt8]) {
        block.replaceSubrange(index..<(index + bytes.count), with: bytes)
    }
}
