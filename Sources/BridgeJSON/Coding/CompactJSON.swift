/// The text of a value in one line without white space, each key once, in the form of ``JSON/write(to:)``.
///
/// Codable types use it for members that are stored or forwarded as text. It is written directly from the text that is
/// read, without a value in between, which takes a fraction of the time and memory.
package struct CompactJSON: Sendable, Hashable {
    /// The text.
    package let bytes: [UInt8]

    /// Creates the text of a value.
    package init(_ json: JSON) { self.init(bytes: json.bytes) }

    /// Creates the compact form of a JSON text; nil if it is not JSON.
    package init?(parsing text: UnsafeRawBufferPointer) {
        guard let tape = try? JSONTape(text, maximumDepth: JSON.maximumDepth) else { return nil }
        self.init(tape, JSONTape.root, sizeHintBytes: text.count)
    }

    fileprivate init(_ tape: JSONTape, _ node: Int, sizeHintBytes: Int) {
        var output = GrowingBuffer<UInt8>(minimumCapacity: sizeHintBytes)
        tape.writeCompact(node, to: &output)
        bytes = Array(output.elements)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The kind of the value, such as `object`, as used in errors.
    package var typeName: String {
        switch bytes.first {
        case UInt8(ascii: "{"): "object"
        case UInt8(ascii: "["): "array"
        case UInt8(ascii: "\""): "string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "boolean"
        case UInt8(ascii: "n"): "null"
        default: "number"
        }
    }
}

extension CompactJSON: Codable {
    /// Reads any value.
    package init(from decoder: any Decoder) throws {
        if let decoder = decoder as? TapeDecoder {
            self.init(decoder.tape, decoder.node, sizeHintBytes: 256)
        } else {
            self.init(try JSON(from: decoder))
        }
    }

    /// Writes the value.
    package func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? TextEncoder else {
            return try JSON(parsing: bytes, maximumDepth: .max).encode(to: encoder)
        }
        try encoder.text.single(in: encoder.id) {
            bytes.withUnsafeBytes { encoder.text.bytes.append(contentsOf: $0) }
        }
    }
}

extension JSONTape {
    /// Appends the text of a value in its compact form. Recurses once for each level.
    func writeCompact(_ node: Int, to output: inout GrowingBuffer<UInt8>) {
        switch kind(node) {
        case .null, .true, .false, .number: output.append(contentsOf: bytes(node))
        case .string: writeCompact(string: node, to: &output)
        case .array: writeElements(node, to: &output)
        case .object: writeMembers(node, to: &output)
        }
    }

    /// Does the same for a string or a key.
    func writeCompact(string node: Int, to output: inout GrowingBuffer<UInt8>) {
        if nodes[node].hasEscapes { return JSONText.quote(string(node), to: &output) }
        output.append(UInt8(ascii: "\""))
        output.append(contentsOf: bytes(node))
        output.append(UInt8(ascii: "\""))
    }

    private func writeElements(_ array: Int, to output: inout GrowingBuffer<UInt8>) {
        output.append(UInt8(ascii: "["))
        var element = array + 1
        for index in 0..<nodes[array].count {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            writeCompact(element, to: &output)
            element = Int(nodes[element].next)
        }
        output.append(UInt8(ascii: "]"))
    }

    private func writeMembers(_ object: Int, to output: inout GrowingBuffer<UInt8>) {
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        forEachMember(of: object) { key, value in
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            writeCompact(string: key, to: &output)
            output.append(UInt8(ascii: ":"))
            writeCompact(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}
