import BridgeJSON
import BridgeMessage

/// The members of a task's options by their names, as text: for tasks whose options may be long, and of which most is
/// handed on. Valid as long as the options.
struct OptionMembers {
    private let names: [StaticString]
    private var values: [UnsafeRawBufferPointer?]

    /// Looks for these members; others are passed over. Of two with one name the second counts.
    ///
    /// - Throws: `options.invalid`, where the options are no object.
    init(_ names: [StaticString], of options: UnsafeRawBufferPointer, _ check: JSONCheck) throws(BridgeError) {
        try self.init(names, of: options) { check.cut(options, $0) }
    }

    /// The same of options that have been walked. Valid as long as the walk.
    init(_ names: [StaticString], of walk: MemberWalk) throws(BridgeError) {
        try self.init(names, of: walk.text) { walk.members($0) }
    }

    private init(
        _ names: [StaticString], of options: UnsafeRawBufferPointer,
        cut: ((UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) -> String?
    ) throws(BridgeError) {
        var values = [UnsafeRawBufferPointer?](repeating: nil, count: names.count)
        let fault = cut { name, value in
            if let index = names.firstIndex(where: { Self.isSame($0, name) }) { values[index] = value }
        }
        if fault != nil {
            throw BridgeError(JSONMismatch(path: "$", expected: "an object", got: Self.kind(of: options)))
        }
        self.names = names
        self.values = values
    }

    /// The value of a member; nil: it is missing.
    subscript(_ name: String) -> UnsafeRawBufferPointer? {
        guard let index = names.firstIndex(where: { "\($0)" == name }) else { return nil }
        return values[index]
    }

    /// Decodes the members that were looked for, but one.
    ///
    /// - Throws: `options.invalid`, also where they are longer than what is decoded on the loop.
    func decode<Value: Decodable>(
        _ type: Value.Type, without left: String
    ) throws(BridgeError) -> Value {
        var text = Array("{".utf8)
        for (name, value) in zip(names, values) {
            guard let value, "\(name)" != left else { continue }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += Array("\"\(name)\":".utf8)
            text += value
        }
        text.append(UInt8(ascii: "}"))
        try TaskRuntime.checkLength(text.count, TaskEntry.usualOptionBytes)
        do throws(JSONMismatch) {
            return try JSONCoding.decode(type, text: text)
        } catch {
            throw BridgeError(error)
        }
    }

    /// Whether a member's name, as it stands between its quotes, is this one.
    private static func isSame(_ name: StaticString, _ text: UnsafeRawBufferPointer) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        if text.elementsEqual(bytes) { return true }
        // A name may be written with escapes; six bytes stand for one then.
        guard text.count <= bytes.count * 6, text.contains(UInt8(ascii: "\\")) else { return false }
        let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
        return (try? JSON(parsing: quoted))?.stringValue.map { Array($0.utf8).elementsEqual(bytes) } ?? false
    }

    private static func kind(of text: UnsafeRawBufferPointer) -> String {
        switch text.first {
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "\""): "a string"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}
