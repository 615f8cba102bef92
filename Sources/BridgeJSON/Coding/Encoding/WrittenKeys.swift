/// The keys of the objects that are open, to notice one that comes twice: a class and its superclass may both have a
/// member of one name.
struct WrittenKeys {
    /// Objects up to this size are searched through; larger ones, as dictionaries may be, have a set of their keys.
    private static let searchedCount = 32

    private var places: [Range<Int>] = []
    /// By where the keys of an object begin.
    private var sets: [Int: Set<ExactKey>] = [:]

    var count: Int { places.count }

    /// Adds a key of the object whose keys begin at `first`.
    ///
    /// - Parameter place: the key, in quotes, among the bytes.
    /// - Returns: whether the object has it already.
    mutating func add(_ place: Range<Int>, of bytes: [UInt8], from first: Int) -> Bool {
        defer { places.append(place) }
        if places.count - first >= Self.searchedCount { return addToSet(place, of: bytes, from: first) }
        return bytes.withUnsafeBufferPointer { bytes in
            places[first...].contains { other in
                other.count == place.count && bytes[other].elementsEqual(bytes[place])
            }
        }
    }

    private mutating func addToSet(_ place: Range<Int>, of bytes: [UInt8], from first: Int) -> Bool {
        let key: (Range<Int>) -> ExactKey = { ExactKey(String(decoding: bytes[$0], as: UTF8.self)) }
        if sets[first] == nil { sets[first] = Set(places[first...].map(key)) }
        return sets[first]?.insert(key(place)).inserted == false
    }

    /// Forgets all keys from one on.
    mutating func remove(from first: Int) {
        places.removeLast(places.count - first)
        guard !sets.isEmpty else { return }
        sets = sets.filter { $0.key < first }
    }
}
