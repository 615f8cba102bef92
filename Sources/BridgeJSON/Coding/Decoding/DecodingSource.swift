/// The text that a type is being read from, with its tape. One for each reading, shared by all its decoders.
///
/// It borrows the bytes: ``close()`` is called before they go, and a decoder that somebody kept beyond that traps.
final class DecodingSource {
    private(set) var bytes: UnsafeRawBufferPointer
    private(set) var tape: Tape
    private let unknownKeys: UnknownKeys
    /// The keys that were asked for, where unknown ones are refused.
    private var askedKeys: [(object: Int, key: String)] = []
    /// Where members of large objects are, by object.
    private var memberIndexes: [Int: [ExactKey: Int]] = [:]
    /// Members that are not there but have a decoder, which sees null.
    private var absentMembers: [(object: Int, key: String)] = []
    private var pathFinder = PathFinder()

    /// An object with more members than this gets an index on its first use, so that hostile ones cost no more than
    /// their size. Below, going through the tape is quicker.
    private static let searchedCount = 32

    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int, unknownKeys: UnknownKeys) throws(JSONSyntaxError) {
        self.bytes = bytes
        self.unknownKeys = unknownKeys
        tape = try Tape(bytes, maximumDepth: maximumDepth)
    }

    func close() {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        tape.entries = []
    }

    // MARK: Values

    /// The entry of a decoder: negative places are those of absent members.
    @inline(__always)
    func entry(_ place: Int) -> Tape.Entry {
        place >= 0 ? tape.entries[place] : Tape.Entry(kind: .null, offset: 0, length: 4, next: 0)
    }

    /// The place of an absent member.
    func absentMember(_ key: String, of object: Int) -> Int {
        absentMembers.append((object, key))
        return -absentMembers.count
    }

    func isNull(_ place: Int) -> Bool { entry(place).kind == .null }

    func bool(_ place: Int) throws -> Bool {
        switch entry(place).kind {
        case .true: return true
        case .false: return false
        default: throw misfit(place, .text("true or false"))
        }
    }

    func string(_ place: Int) throws -> String {
        let entry = entry(place)
        guard entry.kind == .string || entry.kind == .escapedString else { throw misfit(place, .text("a string")) }
        return entry.string(in: bytes)
    }

    func integer<T: FixedWidthInteger>(_ place: Int, as type: T.Type = T.self) throws -> T {
        let entry = entry(place)
        guard entry.kind == .number, let value = NumberText.integer(entry.text(in: bytes), as: type) else {
            let isWhole = entry.kind == .number && double(entry).map { $0.rounded() == $0 } != false
            throw misfit(place, isWhole ? .integer(type) : .valueOf(type))
        }
        return value
    }

    private func double(_ number: Tape.Entry) -> Double? {
        Double(String(decoding: number.text(in: bytes), as: UTF8.self))
    }

    func double(_ place: Int) throws -> Double {
        guard let value = Double(try number(place)), value.isFinite else {
            throw misfit(place, .text("a number that a double can hold"))
        }
        return value
    }

    func float(_ place: Int) throws -> Float {
        guard let value = Float(try number(place)), value.isFinite else {
            throw misfit(place, .text("a number that a float can hold"))
        }
        return value
    }

    /// The text of a number.
    func number(_ place: Int) throws -> String {
        let entry = entry(place)
        guard entry.kind == .number else { throw misfit(place, .text("a number")) }
        return String(decoding: entry.text(in: bytes), as: UTF8.self)
    }

    func json(_ place: Int) -> JSON { place >= 0 ? tape.json(at: place, in: bytes) : .null }

    func misfit(_ place: Int, _ expected: Misfit.Expectation) -> Misfit {
        Misfit(place: .value(place), expected: expected)
    }

    func path(to place: Int) -> [PathStep] {
        guard place < 0 else { return pathFinder.steps(to: place, of: tape, in: bytes) }
        let (object, key) = absentMembers[-place - 1]
        return path(to: object) + [.key(key)]
    }
}

// MARK: Members

extension DecodingSource {
    /// Notes that the members of an object are being asked for.
    func openObject(_ place: Int) throws {
        guard entry(place).kind == .object else { throw misfit(place, .text("an object")) }
        if unknownKeys == .refuse { tape.entries[place].isAsked = true }
    }

    /// The value of a member; nil where the object has none of this name.
    func member(_ key: String, of object: Int) -> Int? {
        if unknownKeys == .refuse { askedKeys.append((object, key)) }
        let count = Int(tape.entries[object].length)
        if count > Self.searchedCount { return memberIndex(of: object)[ExactKey(key)] }
        var key = key
        return key.withUTF8 { search(UnsafeRawBufferPointer($0), of: object, count: count) }
    }

    /// Goes through all the members, because the last of equal keys counts.
    private func search(_ name: UnsafeRawBufferPointer, of object: Int, count: Int) -> Int? {
        var found: Int?
        var place = object + 1
        for _ in 0..<count {
            if isKey(tape.entries[place], name) { found = place + 1 }
            place = Int(tape.entries[place + 1].next)
        }
        return found
    }

    @inline(__always)
    private func isKey(_ entry: Tape.Entry, _ name: UnsafeRawBufferPointer) -> Bool {
        if entry.kind == .escapedString { return entry.string(in: bytes).utf8.elementsEqual(name) }
        guard Int(entry.length) == name.count else { return false }
        for index in 0..<name.count where bytes[Int(entry.offset) + index] != name[index] { return false }
        return true
    }

    private func memberIndex(of object: Int) -> [ExactKey: Int] {
        if let index = memberIndexes[object] { return index }
        var index: [ExactKey: Int] = [:]
        index.reserveCapacity(Int(tape.entries[object].length))
        forEachMember(of: object) { key, place in index[ExactKey(key)] = place }
        memberIndexes[object] = index
        return index
    }

    private func forEachMember(of object: Int, _ body: (_ key: String, _ place: Int) -> Void) {
        var place = object + 1
        for _ in 0..<tape.entries[object].length {
            body(tape.entries[place].string(in: bytes), place + 1)
            place = Int(tape.entries[place + 1].next)
        }
    }

    /// The names of the members, each of them once.
    func keys(of object: Int) -> [String] {
        var keys: [String] = []
        var seen: Set<ExactKey> = []
        keys.reserveCapacity(Int(tape.entries[object].length))
        forEachMember(of: object) { key, _ in
            if seen.insert(ExactKey(key)).inserted { keys.append(key) }
        }
        return keys
    }

    // MARK: Unknown keys

    /// The first member that nobody asked for, of an object whose members were asked for.
    var unknownKey: JSONMismatch? {
        guard unknownKeys == .refuse else { return nil }
        var known: [Int: Set<ExactKey>] = [:]
        for (object, key) in askedKeys { known[object, default: []].insert(ExactKey(key)) }
        for (place, entry) in tape.entries.enumerated() where entry.isAsked {
            let known = known[place] ?? []
            guard let key = keys(of: place).first(where: { !known.contains(ExactKey($0)) }) else { continue }
            return mismatch(unknownKey: key, of: place)
        }
        return nil
    }

    private func mismatch(unknownKey key: String, of object: Int) -> JSONMismatch {
        var known: [String] = []
        for (place, key) in askedKeys where place == object && !known.contains(key) { known.append(key) }
        return JSONMismatch(
            path: (path(to: object) + [.key(key)]).text,
            expected: known.isEmpty ? "no member at all" : "one of the keys \(known.joined(separator: ", "))",
            got: "unknown key", knownKeys: known)
    }
}
