/// A parsed text: the positions of its keys and values, in one row of nodes. Values and Codable types are created from
/// it; strings and numbers are decoded only on request. Of equal keys only the first node is kept, with the value of
/// the last.
///
/// The text is borrowed. Its owner finally calls `keepText` if the tape is still referenced.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than one of the functions here, and none of these
/// calls the types that are being read. The check at run time took a third of the decoding time.
final class JSONTape {
    @exclusivity(unchecked) private(set) var text: UnsafeRawPointer
    @exclusivity(unchecked) private var textCount = 0
    /// The memory of `text` after `keepText`; nil before.
    @exclusivity(unchecked) private var ownText: UnsafeMutableRawPointer?
    @exclusivity(unchecked) var nodes: GrowingBuffer<TapeNode>
    @exclusivity(unchecked) private var tables: [Int: KeyTable] = [:]
    /// Non-nil if unknown keys are refused.
    @exclusivity(unchecked) var visits: KeyVisits?
    /// The `userInfo` for the types that are read.
    @exclusivity(unchecked) var userInfo: [CodingUserInfoKey: Any] = [:]

    static let root = 0

    /// Creates an empty tape, which can then read a text.
    init() {
        nodes = GrowingBuffer()
        // Never read: there are no nodes.
        text = UnsafeRawPointer(nodes.base)
    }

    convenience init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONSyntaxError) {
        self.init()
        try read(bytes, maximumDepth: maximumDepth)
    }

    /// Reads a text into an empty tape.
    func read(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONSyntaxError) {
        var room = GrowingBuffer<TapeNode>()
        swap(&room, &nodes)
        // About the number of nodes of a message.
        room.reserve(min(bytes.count / 8 + 8, 4096))
        nodes = try TapeReader(bytes, maximumDepth: maximumDepth, into: room).document()
        // `!`: a text that could be read has an address.
        text = bytes.baseAddress!
        textCount = bytes.count
    }

    /// Removes the content. Returns false if the tape has grown too large to be kept for the next text.
    func clear() -> Bool {
        nodes.cut(to: 0)
        if !tables.isEmpty { tables = [:] }
        return nodes.capacity <= Self.largestKept
    }

    /// The maximum number of nodes of a tape that is kept.
    private static let largestKept = 4096

    deinit { ownText?.deallocate() }

    /// Copies the text, because its owner releases it.
    func keepText() {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: textCount, alignment: 1)
        copy.copyMemory(from: text, byteCount: textCount)
        ownText = copy
        text = UnsafeRawPointer(copy)
    }

    // MARK: Members

    /// Returns the node of a member's value; nil if the object has no such member. The next search begins with this
    /// member, or after it if `isTaken`.
    @inline(__always)
    func member(_ key: String, of object: Int, isTaken: Bool) -> Int? {
        var key = key
        return key.withUTF8 { member(UnsafeRawBufferPointer($0), of: object, isTaken: isTaken) }
    }

    /// Does the same with the bytes of the key.
    @inline(__always)
    func member(_ key: UnsafeRawBufferPointer, of object: Int, isTaken: Bool) -> Int? {
        var index = Int(nodes[object].start)
        let end = nodes[object].next
        for tried in 0..<nodes[object].count {
            if index == end { index = object + 1 }
            let node = nodes[index]
            if node.isKey(key, text: text) {
                nodes[object].start = isTaken ? node.next : UInt32(index)
                return node.value
            }
            if tried == KeyTable.smallCount { return indexedMember(key, of: object, isTaken: isTaken) }
            index = Int(node.next)
        }
        return nil
    }

    /// Does the same for large objects whose members are requested in another order.
    @inline(never)
    private func indexedMember(_ key: UnsafeRawBufferPointer, of object: Int, isTaken: Bool) -> Int? {
        let table = tables[object] ?? KeyTable(of: object, in: nodes, text: text)
        tables[object] = table
        guard let index = table.find(key, in: nodes, text: text) else { return nil }
        nodes[object].start = isTaken ? nodes[index].next : UInt32(index)
        return nodes[index].value
    }

    /// Returns the keys of an object, in order.
    func keys(of object: Int) -> [String] { keys(of: object, maximum: .max) }

    /// Returns the keys of the first members: enough to find a misspelt one, and bounded for values from clients.
    func firstKeys(of object: Int) -> [String] { keys(of: object, maximum: 64) }

    private func keys(of object: Int, maximum: UInt32) -> [String] {
        var key = object + 1
        return (0..<min(nodes[object].count, maximum)).map { _ in
            defer { key = Int(nodes[key].next) }
            return string(key)
        }
    }

    // MARK: Values

    @inline(__always)
    func kind(_ node: Int) -> TapeNode.Kind { nodes[node].kind }

    /// Returns the bytes in the text; those of a string or key include its escapes.
    func bytes(_ node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text + Int(nodes[node].start), count: Int(nodes[node].count))
    }

    /// Returns the decoded string or key.
    @inline(__always)
    func string(_ node: Int) -> String {
        nodes[node].hasEscapes ? Escapes.resolve(bytes(node)) : String(decoding: bytes(node), as: UTF8.self)
    }

    func number(_ node: Int) -> JSONNumber { JSONNumber(checked: String(decoding: bytes(node), as: UTF8.self)) }

    /// Returns the integer; nil if the number is not an integer or the type does not hold it.
    @inline(__always)
    func integer<T: FixedWidthInteger>(_ node: Int) -> T? {
        if nodes[node].isPlainInteger, let (magnitude, isNegative) = NumberText.integer(bytes(node)) {
            if !isNegative { return T(exactly: magnitude) }
            return Int64(exactly: magnitude).flatMap { T(exactly: -$0) } ?? number(node).integer()
        }
        return number(node).integer()
    }

    /// Returns a number rounded to the nearest double; infinite if it is out of range.
    func double(_ node: Int) -> Double { NumberText.double(bytes(node)) ?? number(node).double }

    /// Returns a value with everything in it. Recurses once for each level.
    func json(_ node: Int) -> JSON {
        switch kind(node) {
        case .null: .null
        case .true: .bool(true)
        case .false: .bool(false)
        case .number: .number(number(node))
        case .string: .string(string(node))
        case .array: .array(elements(node))
        case .object: .object(object(node))
        }
    }

    private func elements(_ array: Int) -> [JSON] {
        var element = array + 1
        return (0..<nodes[array].count).map { _ in
            defer { element = Int(nodes[element].next) }
            return json(element)
        }
    }

    private func object(_ node: Int) -> JSONObject {
        var object = JSONObject()
        object.reserve(Int(nodes[node].count))
        forEachMember(of: node) { object.append(string($0), json($1)) }
        return object
    }

    /// Calls `body` with the nodes of each member of an object, in order.
    @inline(__always)
    func forEachMember(of object: Int, _ body: (_ key: Int, _ value: Int) -> Void) {
        var key = object + 1
        for _ in 0..<nodes[object].count {
            body(key, nodes[key].value)
            key = Int(nodes[key].next)
        }
    }
}
