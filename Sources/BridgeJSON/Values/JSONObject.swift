/// The members of a JSON object, in the order in which they were first set.
///
/// Keys are compared by their bytes, as JSON means it: two ways to compose one accented letter are two keys, though
/// Swift holds such strings to be equal. Small objects are searched through; larger ones keep an index, so that hostile
/// ones cost no more than their size.
public struct JSONObject: Sendable, Sequence {
    fileprivate typealias Member = (key: String, value: JSON)

    /// From this many members on there is an index.
    private static let indexedCount = 16

    /// In order. Where there is an index, a member that was taken out leaves nil, so that those behind it keep their
    /// positions; never more than half of them are nil.
    private var members: [Member?] = []
    private var index: [ExactKey: Int] = [:]

    /// How many members there are.
    public private(set) var count = 0

    /// An object without members.
    public init() {}

    /// Whether there is none.
    public var isEmpty: Bool { count == 0 }
    /// The keys, in order.
    public var keys: [String] { map(\.key) }
    /// How many members there are.
    public var underestimatedCount: Int { count }

    /// The member of a key. Setting nil takes it out.
    public subscript(key: String) -> JSON? {
        get { position(of: key).flatMap { members[$0]?.value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position]?.value = value
            case (let position?, nil): remove(key, at: position)
            case (nil, let value?): append(key, value)
            case (nil, nil): break
            }
        }
    }

    private func position(of key: String) -> Int? {
        guard index.isEmpty else { return index[ExactKey(text: key)] }
        let key = ExactKey(text: key)
        return members.firstIndex { $0.map { ExactKey(text: $0.key) == key } ?? false }
    }

    /// Makes room.
    mutating func reserve(_ added: Int) { members.reserveCapacity(members.count + added) }

    /// Appends a member whose key is known to be none of those that are there.
    mutating func append(_ key: String, _ value: JSON) {
        members.append((key, value))
        count += 1
        if !index.isEmpty {
            index[ExactKey(text: key)] = members.count - 1
        } else if count >= Self.indexedCount {
            makeIndex()
        }
    }

    private mutating func remove(_ key: String, at position: Int) {
        count -= 1
        guard !index.isEmpty else {
            members.remove(at: position)
            return
        }
        members[position] = nil
        index[ExactKey(text: key)] = nil
        guard count < members.count / 2 else { return }
        members.removeAll { $0 == nil }
        index = [:]
        if count >= Self.indexedCount { makeIndex() }
    }

    private mutating func makeIndex() {
        for (position, member) in members.enumerated() {
            if let member { index[ExactKey(text: member.key)] = position }
        }
    }
}

extension JSONObject {
    /// Goes through the members, in order.
    public struct Iterator: IteratorProtocol {
        private var rest: IndexingIterator<[Member?]>

        fileprivate init(_ members: [Member?]) { rest = members.makeIterator() }

        /// The next member.
        public mutating func next() -> (key: String, value: JSON)? {
            while let slot = rest.next() {
                if let member = slot { return member }
            }
            return nil
        }
    }

    /// The members, in order.
    public func makeIterator() -> Iterator { Iterator(members) }
}

/// A key, equal to those of the same bytes.
struct ExactKey: Hashable {
    let text: String

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        // The first is quick, and true of most keys that are not the same; the others are asked for the same keys only.
        left.text == right.text && left.text.utf8.count == right.text.utf8.count
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in whatever order: that is what JSON means.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    /// The same for equal objects.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Set(map { ExactKey(text: $0.key) }))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object; of equal keys the last one counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        for (key, value) in elements { self[key] = value }
    }
}
