/// Reads a text into a tape in one pass over the bytes, without recursion.
struct TapeReader: ~Copyable {
    private let base: UnsafeRawPointer
    private let count: Int
    private let maximumDepth: Int
    private var position = 0
    private var depth = 0
    /// The innermost open container. Its `start` is the enclosing container; the `next` of an object is a set of hashes
    /// of its keys.
    private var open: UInt32 = 0
    private var nodes: GrowingBuffer<TapeNode>

    /// The maximum number of bytes that a tape can index.
    private static let maximumBytes = Int(Int32.max)

    /// - Parameter nodes: an empty buffer, with capacity for the nodes.
    init(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int, into nodes: consuming GrowingBuffer<TapeNode>) {
        // Without an address the count is 0, and nothing is read.
        base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!  // `!`: 1 is not 0
        count = bytes.count
        self.maximumDepth = maximumDepth
        self.nodes = nodes
    }

    consuming func document() throws(JSONSyntaxError) -> GrowingBuffer<TapeNode> {
        guard count <= Self.maximumBytes else { throw error("longer than \(Self.maximumBytes) bytes") }
        repeat {
            skipSpace()
            switch current {
            case UInt8(ascii: "{"):
                try enter(.object)
                if current != UInt8(ascii: "}") {
                    try key()
                    continue
                }
                position += 1
                try ended(leave())
            case UInt8(ascii: "["):
                try enter(.array)
                if current != UInt8(ascii: "]") { continue }
                position += 1
                try ended(leave())
            default:
                try scalar()
                try ended(nodes.count - 1)
            }
        } while depth > 0
        skipSpace()
        guard position == count else { throw error("something follows the value") }
        return nodes
    }

    @inline(never)
    private func error(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(offset: position, reason: reason) }

    @inline(__always)
    private func byte(_ index: Int) -> UInt8 { base.load(fromByteOffset: index, as: UInt8.self) }

    /// The byte at the position; 0, which the grammar does not contain, after the last one.
    private var current: UInt8 {
        @inline(__always) get { position < count ? byte(position) : 0 }
    }

    @inline(__always)
    private mutating func skipSpace() {
        while position < count {
            let byte = byte(position)
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    // MARK: Containers

    @inline(__always)
    private mutating func enter(_ kind: TapeNode.Kind) throws(JSONSyntaxError) {
        guard depth < maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
        depth += 1
        position += 1
        nodes.append(TapeNode(kind, start: open, next: 0))
        open = UInt32(nodes.count - 1)
        skipSpace()
    }

    /// Closes the innermost container after its bracket. Returns its node.
    @inline(__always)
    private mutating func leave() -> Int {
        let container = Int(open)
        open = nodes[container].start
        depth -= 1
        nodes[container].start = UInt32(container + 1)
        nodes[container].next = UInt32(nodes.count)
        return container
    }

    /// Ends a value: continues with the next one, or closes the containers around it.
    private mutating func ended(_ value: Int) throws(JSONSyntaxError) {
        var value = value
        while depth > 0 {
            skipSpace()
            let container = Int(open)
            nodes[container].count += 1
            let isObject = nodes[container].kind == .object
            if isObject { nodes[value - 1].next = UInt32(nodes.count) }
            let close = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            if current == UInt8(ascii: ",") {
                position += 1
                if isObject { try key() }
                return
            }
            guard current == close else {
                throw error(isObject ? "expected a comma or }" : "expected a comma or ]")
            }
            position += 1
            value = leave()
            if isObject, nodes[value].mayHaveDuplicates { KeyTable.joinDuplicates(of: value, in: &nodes, text: base) }
        }
    }

    private mutating func key() throws(JSONSyntaxError) {
        skipSpace()
        guard current == UInt8(ascii: "\"") else { throw error("expected a key in quotes") }
        let (start, hasEscapes) = try string()
        let length = position - 1 - start
        noteKey(start, length, hasEscapes: hasEscapes)
        nodes.append(
            TapeNode(
                keyAt: UInt32(start), count: UInt32(length), value: UInt32(nodes.count + 1), hasEscapes: hasEscapes))
        skipSpace()
        guard current == UInt8(ascii: ":") else { throw error("expected a colon") }
        position += 1
    }

    /// Checks cheaply that the keys of a small object are all different, which is nearly always true.
    @inline(__always)
    private mutating func noteKey(_ start: Int, _ length: Int, hasEscapes: Bool) {
        let object = Int(open)
        if hasEscapes || nodes[object].count >= KeyTable.smallCount { nodes[object].mayHaveDuplicates = true }
        if nodes[object].mayHaveDuplicates { return }
        let ends = length == 0 ? 0 : UInt32(byte(start)) &* 5 &+ UInt32(byte(start + length - 1))
        let bit: UInt32 = 1 << ((ends &+ UInt32(truncatingIfNeeded: length) &* 3) & 31)
        if nodes[object].next & bit != 0 { compareKeys(start, length) }
        nodes[object].next |= bit
    }

    @inline(never)
    private mutating func compareKeys(_ start: Int, _ length: Int) {
        let object = Int(open)
        var key = object + 1
        for _ in 0..<nodes[object].count {
            let known = nodes[key]
            if known.count == length, areEqual(base + Int(known.start), base + start, length) {
                nodes[object].mayHaveDuplicates = true
            }
            key = Int(known.next)
        }
    }

    // MARK: Scalars

    @inline(__always)
    private mutating func scalar() throws(JSONSyntaxError) {
        let next = UInt32(nodes.count + 1)
        switch current {
        case UInt8(ascii: "\""):
            let (start, hasEscapes) = try string()
            nodes.append(
                TapeNode(
                    .string, start: UInt32(start), count: UInt32(position - 1 - start), next: next,
                    hasEscapes: hasEscapes))
        case UInt8(ascii: "t"): try literal("true", .true, next)
        case UInt8(ascii: "f"): try literal("false", .false, next)
        case UInt8(ascii: "n"): try literal("null", .null, next)
        default: try number(next)
        }
    }

    @inline(__always)
    private mutating func literal(
        _ word: StaticString, _ kind: TapeNode.Kind, _ next: UInt32
    ) throws(JSONSyntaxError) {
        let length = word.utf8CodeUnitCount
        guard count - position >= length, areEqual(base + position, word.utf8Start, length) else {
            throw error("neither true, false nor null")
        }
        nodes.append(TapeNode(kind, start: UInt32(position), count: UInt32(length), next: next))
        position += length
    }

    @inline(__always)
    private mutating func number(_ next: UInt32) throws(JSONSyntaxError) {
        let start = position
        // Most numbers are integers: digits without a leading zero.
        var end = start
        if current == UInt8(ascii: "-") { end += 1 }
        let first = end
        while end < count, byte(end) &- UInt8(ascii: "0") < 10 { end += 1 }
        if end > first, end < count, byte(end) != UInt8(ascii: "."), byte(end) | 0x20 != UInt8(ascii: "e"),
            byte(first) != UInt8(ascii: "0")
        {
            var node = TapeNode(.number, start: UInt32(start), count: UInt32(end - start), next: next)
            node.isPlainInteger = true
            nodes.append(node)
            position = end
            return
        }
        try unusualNumber(next)
    }

    @inline(never)
    private mutating func unusualNumber(_ next: UInt32) throws(JSONSyntaxError) {
        let start = position
        var scan = NumberScan()
        position = scan.end(in: UnsafeRawBufferPointer(start: base, count: count), from: start)
        guard scan.isWhole else {
            throw start == position ? error("expected a value") : error("not a valid JSON number")
        }
        var node = TapeNode(.number, start: UInt32(start), count: UInt32(position - start), next: next)
        node.isPlainInteger = scan.isPlainInteger
        nodes.append(node)
    }

    // MARK: Strings

    /// Moves from the opening quote of a string to after the closing one. Returns the start of its content.
    @inline(__always)
    private mutating func string() throws(JSONSyntaxError) -> (start: Int, hasEscapes: Bool) {
        let start = position + 1
        var isASCII = true
        let end = plainEnd(of: base, from: start, to: count, &isASCII)
        if isASCII, end < count, byte(end) == UInt8(ascii: "\"") {
            position = end + 1
            return (start, false)
        }
        position = start
        return (start, try unusualString())
    }

    /// Does the same from the content on, if it is not plain ASCII. Returns whether it has escapes.
    @inline(never)
    private mutating func unusualString() throws(JSONSyntaxError) -> Bool {
        let start = position
        var hasEscapes = false
        var isASCII = true
        while true {
            position = plainEnd(of: base, from: position, to: count, &isASCII)
            guard position < count else { throw error("a string does not end") }
            let byte = byte(position)
            if byte == UInt8(ascii: "\"") { break }
            guard byte == UInt8(ascii: "\\") else { throw error("a string contains a raw control character") }
            hasEscapes = true
            try escape()
        }
        if !isASCII {
            let content = UnsafeRawBufferPointer(start: base + start, count: position - start)
            guard isUTF8(content) else {
                throw JSONSyntaxError(offset: start, reason: "a string is not valid UTF-8")
            }
        }
        position += 1
        return hasEscapes
    }

    /// Checks the escape at the position and moves after it.
    private mutating func escape() throws(JSONSyntaxError) {
        guard position + 1 < count else { throw error("a string does not end") }
        switch byte(position + 1) {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let high = try hexUnit()
            guard Unicode.Scalar(UInt32(high)) == nil else { return }
            // Half of a pair: the other half must follow.
            guard high < 0xDC00, current == UInt8(ascii: "\\"), position + 1 < count,
                byte(position + 1) == UInt8(ascii: "u")
            else { throw error("a lone surrogate") }
            guard (0xDC00...0xDFFF).contains(try hexUnit()) else { throw error("a lone surrogate") }
        default: throw error("an unknown escape")
        }
    }

    private mutating func hexUnit() throws(JSONSyntaxError) -> UInt16 {
        guard position + 6 <= count, let unit = Escapes.hexUnit(base + position + 2) else {
            throw error("an escape is not whole")
        }
        position += 6
        return unit
    }
}
