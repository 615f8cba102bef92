/// A text that was read: where its keys and values are, in one row of nodes. From it values and Codable types are made,
/// strings and numbers only when they are asked for. Of equal keys only the first is left, with the value of the last.
///
/// The text is borrowed. Its owner calls `keepText` in the end where the tape is still held.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than one of the functions here, none of which calls
/// the types that are being read; checking it at run time took a third of a decoding.
final class JSONTape {
    @exclusivity(unchecked) private(set) var text: UnsafeRawPointer
    @exclusivity(unchecked) private var textCount = 0
    /// What `text` points to once the tape keeps it.
    @exclusivity(unchecked) private var ownText: UnsafeMutableRawPointer?
    @exclusivity(unchecked) var nodes: GrowingBuffer<TapeNode>
    @exclusivity(unchecked) private var tables: [Int: KeyTable] = [:]
    /// Set where unknown keys are refused.
    @exclusivity(unchecked) var visits: KeyVisits?
    /// For the types that are read.
    @exclusivity(unchecked) var userInfo: [CodingUserInfoKey: Any] = [:]

    static let root = 0

    /// A tape of nothing, to be read into.
    init() {
        nodes = GrowingBuffer()
        // Never read from: there are no nodes.
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
        // About as many as a message has.
        room.reserve(min(bytes.count / 8 + 8, 4096))
        nodes = try TapeReader(bytes, maximumDepth: maximumDepth, into: room).document()
        // `!`: what could be read has an address.
        text = bytes.baseAddress!
        textCount = bytes.count
    }

    /// What was read is forgotten. False where the tape has grown too large to be kept for the next text.
    func clear() -> Bool {
        nodes.cut(to: 0)
        if !tables.isEmpty { tables = [:] }
        return nodes.capacity <= Self.largestKept
    }

    /// In nodes.
    private static let largestKept = 4096

    deinit { ownText?.deallocate() }

    /// Copies the text, because its owner takes it back.
    func keepText() {
        let copy = UnsafeMutableRawPointer.allocate(byteCount: textCount, alignment: 1)
        copy.copyMemory(from: text, byteCount: textCount)
        ownText = copy
        text = UnsafeRawPointer(copy)
    }

    // MARK: Members

    /// The node of a member's value; nil where the object has no such member. The next search begins with this member,
    /// or behind it where it is taken.
    @inline(__always)
    func member(_ key: String, of object: Int, isTaken: Bool) -> Int? {
        var key = key
        return key.withUTF8 { member(UnsafeRawBufferPointer($0), of: object, isTaken: isTaken) }
    }

    /// The same by the bytes of the key.
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

    /// The same, for large objects whose members are asked for in another order.
    @inline(never)
    private func indexedMember(_ key: UnsafeRawBufferPointer, of object: Int, isTaken: Bool) -> Int? {
        let table = tables[object] ?? KeyTable(of: object, in: nodes, text: text)
        tables[object] = table
        guard let index = table.find(key, in: nodes, text: text) else { return nil }
        nodes[object].start = isTaken ? nodes[index].next : UInt32(index)
        return nodes[index].value
    }

    /// The keys of an object, in order.
    func keys(of object: Int) -> [String] { keys(of: object, maximum: .max) }

    /// Those of the first members: enough to find a misspelt one, bounded where the value is a client's.
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

    /// What stands in the text, of a string or key with its escapes.
    func bytes(_ node: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text + Int(nodes[node].start), count: Int(nodes[node].count))
    }

    /// What a string or key says.
    @inline(__always)
    func string(_ node: Int) -> String {
        nodes[node].hasEscapes ? Escapes.resolve(bytes(node)) : String(decoding: bytes(node), as: UTF8.self)
    }

    func number(_ node: Int) -> JSONNumber { JSONNumber(checked: String(decoding: bytes(node), as: UTF8.self)) }

    /// The integer, where a number is one and the type holds it.
    @inline(__always)
    func integer<T: FixedWidthInteger>(_ node: Int) -> T? {
        if nodes[node].isPlainInteger, let (magnitude, isNegative) = NumberText.integer(bytes(node)) {
            if !isNegative { return T(exactly: magnitude) }
            return Int64(exactly: magnitude).flatMap { T(exactly: -$0) } ?? number(node).integer()
        }
        return number(node).integer()
    }

    /// A number rounded to the nearest double; infinite where it is beyond all of them.
    func double(_ node: Int) -> Double { NumberText.double(bytes(node)) ?? number(node).double }

    /// A value with everything in it. One call deeper with each level.
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
