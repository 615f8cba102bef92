/// A radix tree of name patterns, searched by name. A search takes time proportional to the length of the name, however
/// many patterns there are. A pattern adds at most two nodes. Loop thread only.
///
/// The tree compares bytes: two Unicode spellings of a letter are different names.
final class PatternTree<Element> {
    /// The position of an element in the tree.
    final class Entry {
        let element: Element
        fileprivate unowned(unsafe) var node: Node
        fileprivate var index: Int
        fileprivate let isPrefix: Bool

        /// The node outlives its entries: it is removed only when it has none.
        fileprivate init(_ element: Element, _ node: Node, _ index: Int, isPrefix: Bool) {
            self.element = element
            self.node = node
            self.index = index
            self.isPrefix = isPrefix
        }
    }

    fileprivate final class Node {
        /// The bytes on the edge from the parent to this node.
        var label: [UInt8]
        /// Not retained: the parent holds this node.
        unowned(unsafe) var parent: Node?
        /// The children, sorted by the first byte of their labels.
        var children: [Node] = []
        /// The elements whose pattern is exactly the name that ends at this node.
        var names: [Entry] = []
        /// The elements whose pattern is the prefix that ends at this node.
        var beginnings: [Entry] = []

        init(_ label: [UInt8], parent: Node?) {
            self.label = label
            self.parent = parent
        }

        var isEmpty: Bool { names.isEmpty && beginnings.isEmpty }

        /// Returns the index of the child whose label begins with a byte, or the index at which it would be inserted.
        func position(of byte: UInt8) -> (index: Int, isThere: Bool) {
            var (low, high) = (0, children.count)
            while low < high {
                let middle = (low + high) / 2
                if children[middle].label[0] < byte { low = middle + 1 } else { high = middle }
            }
            return (low, low < children.count && children[low].label[0] == byte)
        }
    }

    private let root = Node([], parent: nil)

    // MARK: Finding

    /// Calls `body` with each element whose pattern matches the name.
    ///
    /// - Returns: The number of visited nodes: at most one more than the length of the name in bytes.
    @discardableResult
    func forEach(matching name: String, _ body: (Element) -> Void) -> Int {
        visit(name) { entries in
            for entry in entries { body(entry.element) }
        }
    }

    /// Returns the entries whose pattern matches the name, in lists that later changes of the tree do not affect.
    func lists(matching name: String) -> [[Entry]] {
        var lists: [[Entry]] = []
        _ = visit(name) { if !$0.isEmpty { lists.append($0) } }
        return lists
    }

    /// Calls `body` with each list of entries that match the name, and returns the number of visited nodes.
    private func visit(_ name: String, _ body: ([Entry]) -> Void) -> Int {
        var name = name
        return name.withUTF8 { bytes in
            var node = root
            var offset = 0
            var visited = 1
            while true {
                body(node.beginnings)
                guard offset < bytes.count else {
                    body(node.names)
                    return visited
                }
                let position = node.position(of: bytes[offset])
                guard position.isThere else { return visited }
                let child = node.children[position.index]
                visited += 1
                guard Self.hasPrefix(bytes, child.label, at: offset) else { return visited }
                offset += child.label.count
                node = child
            }
        }
    }

    /// Whether any pattern matches the name.
    func matches(_ name: String) -> Bool {
        var isMatched = false
        forEach(matching: name) { _ in isMatched = true }
        return isMatched
    }

    private static func hasPrefix(_ bytes: UnsafeBufferPointer<UInt8>, _ label: [UInt8], at offset: Int) -> Bool {
        guard bytes.count - offset >= label.count else { return false }
        for index in label.indices where bytes[offset + index] != label[index] { return false }
        return true
    }

    // MARK: Changing

    /// Inserts an element under a pattern.
    func insert(_ element: Element, _ pattern: EventPattern) -> Entry {
        let isPrefix = pattern.text.utf8.last == UInt8(ascii: "*")
        let node = node(for: Array(isPrefix ? pattern.text.utf8.dropLast() : pattern.text.utf8[...]))
        let count = isPrefix ? node.beginnings.count : node.names.count
        let entry = Entry(element, node, count, isPrefix: isPrefix)
        if isPrefix { node.beginnings.append(entry) } else { node.names.append(entry) }
        return entry
    }

    /// Removes an entry that is in this tree.
    func remove(_ entry: Entry) {
        let node = entry.node
        if entry.isPrefix {
            Self.remove(entry, from: &node.beginnings)
        } else {
            Self.remove(entry, from: &node.names)
        }
        prune(node)
    }

    /// Moves the last entry into the place of the removed one.
    private static func remove(_ entry: Entry, from entries: inout [Entry]) {
        let last = entries.removeLast()
        guard last !== entry else { return }
        entries[entry.index] = last
        last.index = entry.index
    }

    /// Returns the node for the bytes; creates it if it does not exist.
    private func node(for bytes: [UInt8]) -> Node {
        var node = root
        var rest = bytes[...]
        while let byte = rest.first {
            let position = node.position(of: byte)
            guard position.isThere else {
                let leaf = Node(Array(rest), parent: node)
                node.children.insert(leaf, at: position.index)
                return leaf
            }
            let child = node.children[position.index]
            let common = Self.commonCount(child.label, rest)
            node = common == child.label.count ? child : split(child, at: common, of: node, position.index)
            rest = rest.dropFirst(common)
        }
        return node
    }

    private static func commonCount(_ label: [UInt8], _ rest: ArraySlice<UInt8>) -> Int {
        let maximum = min(label.count, rest.count)
        var count = 0
        while count < maximum, label[count] == rest[rest.startIndex + count] { count += 1 }
        return count
    }

    /// Splits an edge by inserting a node where only a part of the label is shared.
    private func split(_ child: Node, at count: Int, of parent: Node, _ index: Int) -> Node {
        let middle = Node(Array(child.label[..<count]), parent: parent)
        child.label.removeFirst(count)
        child.parent = middle
        middle.children = [child]
        parent.children[index] = middle
        return middle
    }

    /// Removes a node without entries, or merges it with its child if it has exactly one.
    private func prune(_ node: Node) {
        guard node.isEmpty, let parent = node.parent else { return }
        let index = parent.position(of: node.label[0]).index
        switch node.children.count {
        case 0:
            parent.children.remove(at: index)
            prune(parent)
        case 1:
            let child = node.children[0]
            child.label = node.label + child.label
            child.parent = parent
            parent.children[index] = child
        default: break
        }
    }
}
