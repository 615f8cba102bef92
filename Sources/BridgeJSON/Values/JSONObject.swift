/// The members of a JSON object, in the order in which they were first set.
///
/// Keys are compared by their bytes, as JSON requires: two compositions of one accented letter are two keys, although
/// Swift considers such strings equal. Small objects are searched linearly; larger ones have an index, so that hostile
/// objects cost no more than their size.
public struct JSONObject: Sendable, Sequence {
    fileprivate typealias Member = (key: String, value: JSON)

    /// The number of members from which on there is an index.
    private static let indexedCount = 16

    /// The members in order. With an index, a removed member leaves nil, so that later members keep their positions; at
    /// most half of the slots are nil.
    private var members: [Member?] = []
    private var index: [ExactKey: Int] = [:]

    /// The number of members.
    public private(set) var count = 0

    /// Creates an object without members.
    public init() {}

    /// Whether the object has no members.
    public var isEmpty: Bool { count == 0 }
    /// The keys, in order.
    public var keys: [String] { map(\.key) }
    /// The number of members.
    public var underestimatedCount: Int { count }

    /// The member with a key; nil if there is none. Setting nil removes the member.
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

    /// Reserves space for further members.
    mutating func reserve(_ added: Int) { members.reserveCapacity(members.count + added) }

    /// Appends a member whose key does not exist yet.
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
    /// Iterates over the members, in order.
    public struct Iterator: IteratorProtocol {
        private var rest: IndexingIterator<[Member?]>

        fileprivate init(_ members: [Member?]) { rest = members.makeIterator() }

        /// Returns the next member; nil at the end.
        public mutating func next() -> (key: String, value: JSON)? {
            while let slot = rest.next() {
                if let member = slot { return member }
            }
            return nil
        }
    }

    /// Returns an iterator over the members, in order.
    public func makeIterator() -> Iterator { Iterator(members) }
}

/// A key that is equal to keys with the same bytes.
struct ExactKey: Hashable {
    let text: String

    static func == (left: ExactKey, right: ExactKey) -> Bool {
        // The first comparison is fast and false for most different keys; the others run only after it has succeeded.
        left.text == right.text && left.text.utf8.count == right.text.utf8.count
            && left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in any order, as JSON requires.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    /// Produces the same hash for equal objects.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Set(map { ExactKey(text: $0.key) }))
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object; if keys are equal, the last member counts.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        for (key, value) in elements { self[key] = value }
    }
}
