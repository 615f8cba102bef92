/// A hash of names with a secret seed, for the daemon's own tables. Eight bytes at a time are multiplied by a part of
/// the seed, and both halves of the product are combined.
enum NameHash {
    /// A random secret of this process.
    struct Seed {
        let first: UInt64
        let second: UInt64

        static func random() -> Seed { Seed(first: .random(in: 0 ... .max), second: .random(in: 0 ... .max) | 1) }
    }

    @inline(__always)
    static func hash(of name: UnsafeRawBufferPointer, _ seed: Seed) -> UInt64 {
        var hash = seed.first ^ UInt64(truncatingIfNeeded: name.count)
        var offset = 0
        while offset + 8 <= name.count {
            hash = fold(hash ^ name.loadUnaligned(fromByteOffset: offset, as: UInt64.self), seed.second)
            offset += 8
        }
        return fold(hash ^ rest(of: name, from: offset), seed.second)
    }

    /// Reads the last bytes, fewer than eight. The reads may overlap. The length is part of the hash, so it
    /// distinguishes names whose reads give the same bytes.
    @inline(__always)
    private static func rest(of name: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
        let count = name.count
        guard count >= 4 else {
            guard count > 0 else { return 0 }
            return UInt64(name[0]) | UInt64(name[count / 2]) << 8 | UInt64(name[count - 1]) << 16
        }
        if count > 8 { return name.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) }
        if offset == count { return 0 }
        return UInt64(name.loadUnaligned(as: UInt32.self))
            | UInt64(name.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)) << 32
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
