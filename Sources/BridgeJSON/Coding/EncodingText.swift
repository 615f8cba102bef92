/// The text of a value that is being written, and the open values at its end.
///
/// Values are written directly at the end of the text, because Swift's types nearly always call one another in the
/// order of the text. The exceptions are the containers that `nestedContainer` and `superEncoder` return: their owner
/// may fill them at any time until its own value ends. Each of these is a text of its own, a `part`, which is inserted
/// at its offset at that time.
///
/// `@exclusivity(unchecked)`: no access to a property lasts longer than one of the functions here, and none of these
/// lets a type write itself meanwhile. The check at run time took a third of the encoding time.
final class EncodingText {
    @exclusivity(unchecked) var bytes: GrowingBuffer<UInt8>
    /// The innermost value that is being written. `encode` keeps the enclosing values on the call stack.
    @exclusivity(unchecked) private var value: OpenValue
    @exclusivity(unchecked) private var lastID = 1
    /// The path from the root to the innermost value.
    @exclusivity(unchecked) private(set) var path: [PathStep]
    /// The hashes of the keys of the open objects, from the outermost to the innermost.
    @exclusivity(unchecked) private var keyHashes = GrowingBuffer<UInt64>(minimumCapacity: 16)

    init(path: [PathStep] = [], capacity: Int = 256) {
        bytes = GrowingBuffer(minimumCapacity: capacity)
        value = OpenValue(id: 1, start: 0, firstHash: 0)
        self.path = path
    }

    /// The encoder of the whole text.
    var encoder: TextEncoder { TextEncoder(text: self, id: 1) }

    // MARK: Values

    /// Writes the root value of the text.
    func encodeRoot<T: Encodable>(_ value: T) throws(JSONEncodingError) {
        do {
            try encode(value, at: nil)
        } catch let error as JSONEncodingError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            throw JSONEncodingError(path: CodingPath(context.codingPath).text, reason: context.debugDescription)
        } catch {
            throw JSONEncodingError(path: "$", reason: "\(error)")
        }
    }

    /// Writes a value at the end; the plainest types without an encoder of their own. If it fails, nothing of the value
    /// remains.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, at step: @autoclosure () -> PathStep?) throws {
        // The types on both sides are the same.
        if T.self == String.self {
            JSONText.quote(unsafeBitCast(value, to: String.self), to: &bytes)
        } else if T.self == Int.self {
            JSONText.write(unsafeBitCast(value, to: Int.self), to: &bytes)
        } else if T.self == Bool.self {
            write(unsafeBitCast(value, to: Bool.self))
        } else {
            try encodeParts(of: value, at: step())
        }
    }

    private func encodeParts<T: Encodable>(of value: T, at step: PathStep?) throws {
        if let step { path.append(step) }
        defer { if step != nil { path.removeLast() } }
        // The types on both sides are the same.
        if T.self == Double.self { return try write(unsafeBitCast(value, to: Double.self)) }
        if T.self == JSON.self { return unsafeBitCast(value, to: JSON.self).writeText(to: &bytes) }
        try scope { try value.encode(to: $0) }
    }

    func write(_ value: Bool) { if value { bytes.append(literal: "true") } else { bytes.append(literal: "false") } }

    func writeNull() { bytes.append(literal: "null") }

    func write(_ value: Double) throws {
        guard value.isFinite else { throw noNumber("\(value)") }
        JSONText.write(digits: value.description, to: &bytes)
    }

    /// Writes the shortest text of a float, which as a double would have many more digits.
    func write(_ value: Float) throws {
        guard value.isFinite else { throw noNumber("\(value)") }
        JSONText.write(digits: value.description, to: &bytes)
    }

    @inline(never)
    private func noNumber(_ value: String) -> JSONEncodingError {
        JSONEncodingError(path: pathText, reason: "JSON has no number \(value)")
    }

    /// Runs `body` with the encoder of a value at the end of the text.
    private func scope(_ body: (TextEncoder) throws -> Void) throws {
        let outer = value
        lastID += 1
        value = OpenValue(id: lastID, start: bytes.count, firstHash: keyHashes.count)
        do {
            try body(TextEncoder(text: self, id: lastID))
            try close()
            value = outer
        } catch {
            bytes.cut(to: value.start)
            keyHashes.cut(to: value.firstHash)
            value = outer
            throw error
        }
    }

    /// Ends the innermost value.
    func close() throws {
        if let extra = value.extra {
            if let misuse = extra.misuse { throw misuse }
            try insert(extra.parts)
        }
        switch value.form {
        case .none: bytes.append(literal: "{}")
        case .single: break
        case .array: bytes.append(UInt8(ascii: "]"))
        case .object:
            bytes.append(UInt8(ascii: "}"))
            let hashes = keyHashes.elements[value.firstHash...]
            if value.hasDuplicate || hashes.count > KeyTable.smallCount && Set(hashes).count < hashes.count {
                joinDuplicates()
            }
            keyHashes.cut(to: value.firstHash)
        }
        seal()
    }

    /// Prevents encoders and containers that were kept from writing here again.
    private func seal() { value.id = OpenValue.ended }

    /// Called when two members of the object at the end may have the same key. Keeps the last one, at the position of
    /// the first.
    private func joinDuplicates() {
        let object = Array(bytes.elements[value.start...])
        bytes.cut(to: value.start)
        object.withUnsafeBytes { JSONCoding.json(ofWritten: $0).writeText(to: &bytes) }
    }

    /// Inserts the parts of the innermost value at their offsets.
    private func insert(_ parts: [EncodingPart]) throws {
        guard let first = parts.first?.offset else { return }
        let tail = Array(bytes.elements[first...])
        bytes.cut(to: first)
        var written = 0
        for part in parts {
            tail[written..<(part.offset - first)].withUnsafeBytes { bytes.append(contentsOf: $0) }
            written = part.offset - first
            try part.text.close()
            bytes.append(contentsOf: UnsafeRawBufferPointer(part.text.bytes.elements))
        }
        tail[written...].withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    // MARK: Containers

    /// Begins an object or array, or continues the one that was begun; returns 0 if that is impossible.
    func open(_ form: OpenValue.Form, in id: Int) -> Int {
        guard id == value.id else {
            // The encoder that writes here now has caused it, or must throw it.
            misuse(
                "a container was requested from an encoder whose value has ended, or that waits for a nested container")
            return 0
        }
        if value.form == form { return id }
        guard value.form == .none else {
            misuse("a value cannot be of two kinds: \(value.form) and \(form)")
            return 0
        }
        value.form = form
        bytes.append(form == .object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        return id
    }

    /// Lets the innermost value fail when it ends.
    private func misuse(_ reason: String) {
        let error = JSONEncodingError(path: pathText, reason: reason)
        let extra = value.makeExtra()
        if extra.misuse == nil { extra.misuse = error }
    }

    private func closed() -> JSONEncodingError {
        JSONEncodingError(
            path: pathText,
            reason:
                "a container was used whose value had ended, was of another kind, or was waiting for one of its parts")
    }

    /// Writes the single value of an encoder.
    @inline(__always)
    func single(in id: Int, _ write: () throws -> Void) throws {
        guard id == value.id else { throw closed() }
        guard value.form == .none else {
            throw JSONEncodingError(path: pathText, reason: "a value cannot be both \(value.form) and a single value")
        }
        try write()
        value.form = .single
    }

    /// Writes a member of an object.
    @inline(__always)
    func member(_ key: some CodingKey, in id: Int, _ write: () throws -> Void) throws {
        let (start, hashCount) = (bytes.count, keyHashes.count)
        try begin(key, in: id)
        do {
            try write()
        } catch {
            bytes.cut(to: start)
            keyHashes.cut(to: hashCount)
            value.count -= 1
            throw error
        }
        value.extra?.forgetPart(of: key)
    }

    private func begin(_ key: some CodingKey, in id: Int) throws {
        guard id == value.id else { throw closed() }
        if value.count > 0 { bytes.append(UInt8(ascii: ",")) }
        value.count += 1
        let hash = JSONText.writeKey(key.stringValue, to: &bytes)
        if keyHashes.count - value.firstHash <= KeyTable.smallCount {
            for index in value.firstHash..<keyHashes.count where keyHashes[index] == hash { value.hasDuplicate = true }
        }
        keyHashes.append(hash)
    }

    /// Writes an element of an array.
    func element<T: Encodable>(in id: Int, _ content: T) throws {
        let start = bytes.count
        let index = value.count
        try beginElement(in: id)
        do {
            try encode(content, at: .index(index))
        } catch {
            bytes.cut(to: start)
            value.count = index
            throw error
        }
    }

    func nullElement(in id: Int) throws {
        try beginElement(in: id)
        writeNull()
    }

    private func beginElement(in id: Int) throws {
        guard id == value.id else { throw closed() }
        if value.count > 0 { bytes.append(UInt8(ascii: ",")) }
        value.count += 1
    }

    /// Returns the number of elements that have been written to an array.
    func elementCount(in id: Int) -> Int { id == value.id ? value.count : 0 }

    // MARK: Parts

    /// Returns the part in which a nested container is opened; if the last member with the key is a part, returns that
    /// part again.
    func nestedPart(_ key: some CodingKey, in id: Int) -> TextEncoder {
        if id == value.id, let known = value.extra?.part(of: key) { return known.encoder }
        return part(key, in: id)
    }

    /// Begins a part that is the next member of an object.
    func part(_ key: some CodingKey, in id: Int) -> TextEncoder {
        let part = part(.key(key.stringValue)) { try begin(key, in: id) }
        value.extra?.remember(part, of: key)
        return part.encoder
    }

    /// Begins a part that is the next element of an array.
    func part(in id: Int) -> TextEncoder {
        part(.index(elementCount(in: id))) { try beginElement(in: id) }.encoder
    }

    private func part(_ step: PathStep, _ begin: () throws -> Void) -> EncodingText {
        let text = EncodingText(path: path + [step])
        do {
            try begin()
            value.makeExtra().append(EncodingPart(offset: bytes.count, text: text))
        } catch {
            misuse("a container was used whose value had ended, or was waiting for one of its parts")
            text.seal()
        }
        return text
    }

    var pathText: String { path.codingPath.text }
}
