/// JSON Merge Patch, RFC 7396: a patch is an object with the structure of the object that it changes. Its members
/// replace those of the same name, `null` removes them, and nested objects are merged recursively.
package enum MergePatch {
    /// Applies a patch to the text of an object and returns the result. Members that the patch does not mention are
    /// copied as they are written.
    ///
    /// The time is linear in the bytes of both, at any nesting depth: there is one pass over the text.
    ///
    /// - Parameters:
    ///   - patch: An object.
    ///   - text: JSON.
    /// - Returns: The changed text; nil if the text is not an object.
    package static func apply(_ patch: CompactJSON, to text: UnsafeRawBufferPointer) -> [UInt8]? {
        patch.bytes.withUnsafeBytes { bytes in
            // `try?`: the text of a value is JSON.
            guard let tape = try? JSONTape(bytes, maximumDepth: .max), tape.kind(JSONTape.root) == .object else {
                return nil
            }
            var merge = Merge(patch: tape, text: text)
            return merge.members(JSONTape.root) ? Array(merge.output.elements) : nil
        }
    }
}

/// The application of one patch to one text.
private struct Merge: ~Copyable {
    private let patch: JSONTape
    private var cursor: MemberCursor
    private(set) var output = GrowingBuffer<UInt8>()

    init(patch: JSONTape, text: UnsafeRawBufferPointer) {
        self.patch = patch
        cursor = MemberCursor(text)
        output.reserve(text.count + 256)
    }

    /// Writes the next object of the text, whose first member is next, with the changes of an object of the patch.
    /// Recurses once for each level of the patch.
    ///
    /// - Returns: False if the text is not an object.
    mutating func members(_ object: Int) -> Bool {
        var writer = MemberWriter(&output)
        var met: Set<Int> = []
        while let key = cursor.nextKey() {
            guard let change = change(of: key, in: object) else {
                writer.append(quotedKey: key, to: &output)
                guard let value = cursor.value() else { return false }
                output.append(contentsOf: value)
                continue
            }
            met.insert(change)
            if patch.kind(change) == .null {
                guard cursor.value() != nil else { return false }
                continue
            }
            writer.append(quotedKey: key, to: &output)
            guard replaceValue(by: change) else { return false }
        }
        patch.forEachMember(of: object) { key, value in
            guard patch.kind(value) != .null, !met.contains(value) else { return }
            writer.append(key, of: patch, to: &output)
            patch.writeWithoutNulls(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
        return cursor.leave()
    }

    /// Writes the text's next value as changed by a value of the patch.
    private mutating func replaceValue(by change: Int) -> Bool {
        if patch.kind(change) == .object, cursor.enter() { return members(change) }
        patch.writeWithoutNulls(change, to: &output)
        return cursor.value() != nil
    }

    /// Returns the node of the patch's value for a key of the text; nil if there is none.
    private func change(of quotedKey: UnsafeRawBufferPointer, in object: Int) -> Int? {
        let content = UnsafeRawBufferPointer(rebasing: quotedKey.dropFirst().dropLast())
        guard content.contains(UInt8(ascii: "\\")) else { return patch.member(content, of: object, isTaken: false) }
        guard let key = try? JSON(parsing: quotedKey).stringValue else { return nil }
        return patch.member(key, of: object, isTaken: false)
    }
}

/// Writes the keys and separators of an object.
private struct MemberWriter {
    private var isEmpty = true

    init(_ output: inout GrowingBuffer<UInt8>) { output.append(UInt8(ascii: "{")) }

    mutating func append(quotedKey: UnsafeRawBufferPointer, to output: inout GrowingBuffer<UInt8>) {
        separate(&output)
        output.append(contentsOf: quotedKey)
        output.append(UInt8(ascii: ":"))
    }

    mutating func append(_ key: Int, of tape: JSONTape, to output: inout GrowingBuffer<UInt8>) {
        separate(&output)
        tape.writeCompact(string: key, to: &output)
        output.append(UInt8(ascii: ":"))
    }

    private mutating func separate(_ output: inout GrowingBuffer<UInt8>) {
        if !isEmpty { output.append(UInt8(ascii: ",")) }
        isEmpty = false
    }
}

extension JSONTape {
    /// Appends a value of the patch that replaces no object: members of its objects that are `null` are left out.
    fileprivate func writeWithoutNulls(_ node: Int, to output: inout GrowingBuffer<UInt8>) {
        guard kind(node) == .object else { return writeCompact(node, to: &output) }
        var writer = MemberWriter(&output)
        forEachMember(of: node) { key, value in
            guard kind(value) != .null else { return }
            writer.append(key, of: self, to: &output)
            writeWithoutNulls(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}
