/// A hash of names with a secret seed, for tables of our own: eight bytes at a time are multiplied with a part of the
/// seed, and both halves of the product count.
enum NameHash {
    /// What no one outside of this process knows.
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
        var rest: UInt64 = 0
        while offset < name.count {
            rest = rest << 8 | UInt64(name[offset])
            offset += 1
        }
        return fold(hash ^ rest, seed.second)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
