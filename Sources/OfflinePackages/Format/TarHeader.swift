/// The header of a file in a tar (POSIX ustar). There is one for each path and length: no owner, no time, no link, no
/// other kind of entry. So an archive is read by comparing headers with those that must be there.
enum TarHeader {
    static let blockBytes = 512
    private static let nameBytes = 100
    /// One byte less than there is room for, as GNU tar has it.
    private static let prefixBytes = 154
    private static let size = 124..<136
    private static let checksum = 148..<156
    private static let prefix = 345

    /// Whether there is a header for a path.
    static func fits(_ path: String) -> Bool { split(path) != nil }

    /// The header.
    ///
    /// - Parameters:
    ///   - path: One that ``fits(_:)``.
    ///   - byteCount: How long the file is, below 8 GiB.
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

    /// How long the file of a header is; nil: the header says no length.
    static func byteCount(of block: [UInt8]) -> Int64? {
        let digits = block[size].dropLast()
        guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 << 3 | Int64($1 - 0x30) }
    }

    /// How many bytes stand behind a file until the next header.
    static func paddingBytes(behind byteCount: Int64) -> Int64 {
        (Int64(blockBytes) - byteCount % Int64(blockBytes)) % Int64(blockBytes)
    }

    /// The two blocks at the end.
    static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

    /// A path in two: folders, and what is behind them.
    private static func split(_ path: String) -> (prefix: [UInt8], name: [UInt8])? {
        let bytes = Array(path.utf8)
        guard bytes.count > nameBytes else { return ([], bytes) }
        // The shortest prefix that will do.
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
