/// Writes Codable values into a tree of nodes, which types may fill in any order that they like.
final class ValueEncoder: Encoder {
    /// A place in the value that is being written.
    final class Node {
        fileprivate enum Content {
            case empty
            case value(JSON)
            case members([(key: String, node: Node)])
            case elements([Node])
        }

        fileprivate var content = Content.empty

        var json: JSON {
            switch content {
            case .empty: .object([:])
            case .value(let value): value
            case .elements(let nodes): .array(nodes.map(\.json))
            case .members(let members):
                .object(
                    members.reduce(into: JSONObject()) { object, member in object[member.key] = member.node.json })
            }
        }

        fileprivate func openMembers() {
            if case .members = content { return }
            content = .members([])
        }

        fileprivate func openElements() {
            if case .elements = content { return }
            content = .elements([])
        }

        fileprivate func member(_ key: String) -> Node {
            guard case .members(var members) = content else { return Node() }
            content = .empty
            let node = Node()
            members.append((key, node))
            content = .members(members)
            return node
        }

        /// The member that a nested container is opened for, a second time perhaps.
        fileprivate func nestedMember(_ key: String) -> Node {
            if case .members(let members) = content, let known = members.last(where: { $0.key == key }) {
                return known.node
            }
            return member(key)
        }

        fileprivate func element() -> Node {
            guard case .elements(var nodes) = content else { return Node() }
            content = .empty
            let node = Node()
            nodes.append(node)
            content = .elements(nodes)
            return node
        }

        fileprivate var count: Int { if case .elements(let nodes) = content { nodes.count } else { 0 } }
    }

    let node: Node
    let path: CodingPath

    init(node: Node, path: CodingPath) {
        self.node = node
        self.path = path
    }

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    static func encode<T: Encodable>(_ value: T, at path: CodingPath) throws -> Node {
        let node = Node()
        try ValueEncoder(node: node, path: path).encode(value)
        return node
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.openMembers()
        return KeyedEncodingContainer(KeyedNodes<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.openElements()
        return UnkeyedNodes(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleNode(encoder: self) }

    // MARK: Values

    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        case let json as JSON: node.content = .value(json)
        case let number as JSONNumber: node.content = .value(.number(number))
        default: try value.encode(to: self)
        }
    }

    func set(_ value: JSON) { node.content = .value(value) }

    func set(_ value: Double) throws {
        guard let number = JSONNumber(value) else {
            throw JSONEncodingError(path: path.text, reason: "JSON has no number \(value)")
        }
        set(.number(number))
    }

    /// The shortest text of a float, which as a double would have many more digits.
    func set(_ value: Float) throws {
        guard value.isFinite, let number = JSONNumber(text: value.description) else {
            throw JSONEncodingError(path: path.text, reason: "JSON has no number \(value)")
        }
        set(.number(number))
    }

    fileprivate func member(_ key: any CodingKey) -> ValueEncoder {
        ValueEncoder(node: node.member(key.stringValue), path: .key(key.stringValue, of: path))
    }

    fileprivate func nestedMember(_ key: any CodingKey) -> ValueEncoder {
        ValueEncoder(node: node.nestedMember(key.stringValue), path: .key(key.stringValue, of: path))
    }

    fileprivate func element() -> ValueEncoder {
        ValueEncoder(node: node.element(), path: .index(node.count - 1, of: path))
    }
}

/// A single value. Everything that is no plain value of JSON goes through the generic function.
private struct SingleNode: SingleValueEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() { encoder.set(.null) }
    func encode(_ value: Bool) { encoder.set(.bool(value)) }
    func encode(_ value: String) { encoder.set(.string(value)) }
    func encode(_ value: Double) throws { try encoder.set(value) }
    func encode(_ value: Float) throws { try encoder.set(value) }
    func encode(_ value: Int) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: Int8) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: Int16) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: Int32) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: Int64) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: UInt) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: UInt8) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: UInt16) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: UInt32) { encoder.set(.number(JSONNumber(value))) }
    func encode(_ value: UInt64) { encoder.set(.number(JSONNumber(value))) }
    func encode<T: Encodable>(_ value: T) throws { try encoder.encode(value) }
}

private struct KeyedNodes<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) { encoder.member(key).set(.null) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.member(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { encoder.nestedMember(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nestedMember(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.member(AnyKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.member(key) }
}

private struct UnkeyedNodes: UnkeyedEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    func encodeNil() { encoder.element().set(.null) }
    func encode<T: Encodable>(_ value: T) throws { try encoder.element().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { encoder.element().container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.element() }
}
