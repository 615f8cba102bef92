/// The members of a JSON object, in the order in which they were first set. Keys are compared by their bytes.
///
/// Small objects are searched through; larger ones keep an index, so that hostile ones cost no more than their size.
public struct JSONObject: Sendable, Sequence {
    /// From this many members on there is an index.
    private static let indexedCount = 16

    private var members: [(key: String, value: JSON)] = []
    private var index: [ExactKey: Int] = [:]

    /// An object without members.
    public init() {}

    /// An object with room for so many members.
    init(capacity: Int) { members.reserveCapacity(capacity) }

    /// How many members there are.
    public var count: Int { members.count }
    /// Whether there is none.
    public var isEmpty: Bool { members.isEmpty }
    /// The keys, in order.
    public var keys: [String] { members.map(\.key) }

    /// The member of a key. Setting nil takes it out.
    public subscript(key: String) -> JSON? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): remove(at: position)
            case (nil, let value?): append(key, value)
            case (nil, nil): break
            }
        }
    }

    /// The members, in order.
    public func makeIterator() -> IndexingIterator<[(key: String, value: JSON)]> { members.makeIterator() }

    private func position(of key: String) -> Int? {
        let key = ExactKey(key)
        return index.isEmpty ? members.firstIndex { ExactKey($0.key) == key } : index[key]
    }

    private mutating func append(_ key: String, _ value: JSON) {
        members.append((key, value))
        if !index.isEmpty {
            index[ExactKey(key)] = members.count - 1
        } else if members.count >= Self.indexedCount {
            for (position, member) in members.enumerated() { index[ExactKey(member.key)] = position }
        }
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        guard !index.isEmpty else { return }
        index = [:]
        guard members.count >= Self.indexedCount else { return }
        for (position, member) in members.enumerated() { index[ExactKey(member.key)] = position }
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in whatever order: that is what JSON means.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    /// The same for equal objects.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Set(keys.lazy.map(ExactKey.init)))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object; of equal keys the last one counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        for (key, value) in elements { self[key] = value }
    }
}
