import BridgeJSON
import BridgeMessage

/// The members of a task's options by name, as text. For tasks whose options may be long and are mostly passed on
/// without decoding. Valid as long as the options.
struct OptionMembers {
    private let names: [StaticString]
    private var values: [UnsafeRawBufferPointer?]
    /// The first names that were not requested. One of them may be misspelt.
    private var others: [String] = []

    private static let maximumOthers = 16
    private static let maximumOtherBytes = 64
    private static let maximumPlainBytes = 256

    /// Finds these members and ignores others. If several members have the same name, the last one counts.
    ///
    /// - Throws: `options.invalid` if the options are no object.
    init(_ names: [StaticString], of options: UnsafeRawBufferPointer, _ check: JSONCheck) throws(BridgeError) {
        self.init(names)
        guard check.cut(options, { take($0, $1) }) == nil else { throw Self.noObject(options) }
    }

    /// Begins without values; ``takeNext(of:)`` finds them.
    init(_ names: [StaticString]) {
        self.names = names
        values = [UnsafeRawBufferPointer?](repeating: nil, count: names.count)
    }

    /// Takes the next members of options that have been walked, and returns true if there are no more. The values are
    /// valid as long as the walk.
    ///
    /// - Throws: `options.invalid` if the options are no object.
    mutating func takeNext(of walk: MemberWalk) throws(BridgeError) -> Bool {
        do throws(MemberWalk.NoObject) {
            return try walk.nextMembers { take($0, $1) }
        } catch {
            throw Self.noObject(walk.text)
        }
    }

    private mutating func take(_ written: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard let index = names.firstIndex(where: { Self.isSame($0, written) }) else { return note(written) }
        values[index] = value
    }

    private mutating func note(_ other: UnsafeRawBufferPointer) {
        guard others.count < Self.maximumOthers, other.count <= Self.maximumOtherBytes else { return }
        others.append(String(decoding: other, as: UTF8.self))
    }

    /// The value of a member; `nil` if it is missing.
    subscript(_ name: StaticString) -> UnsafeRawBufferPointer? {
        guard let index = names.firstIndex(where: { Self.isSame($0, name) }) else { return nil }
        return values[index]
    }

    /// Returns the value of a member that is a short string without escapes; `nil` if it is missing or something else.
    func plainString(_ name: StaticString) -> String? {
        guard let text = self[name], (2...Self.maximumPlainBytes).contains(text.count),
            text.first == UInt8(ascii: "\""),
            !text.contains(UInt8(ascii: "\\"))
        else { return nil }
        return String(decoding: text[1..<text.count - 1], as: UTF8.self)
    }

    /// Decodes the requested members except `left`.
    ///
    /// - Throws: `options.invalid`, also if they are longer than the loop may decode.
    func decode<Value: Decodable>(
        _ type: Value.Type, without left: StaticString
    ) throws(BridgeError) -> Value {
        var text = Array("{".utf8)
        for (name, value) in zip(names, values) {
            guard let value, !Self.isSame(name, left) else { continue }
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += Array("\"\(name)\":".utf8)
            text += value
        }
        text.append(UInt8(ascii: "}"))
        try CallEngine.checkLength(text.count, TaskEntry.usualOptionBytes)
        do throws(JSONMismatch) {
            return try JSONCoding.decode(type, text: text)
        } catch {
            throw BridgeError(error.naming(given: others))
        }
    }

    private static func isSame(_ name: StaticString, _ written: UnsafeRawBufferPointer) -> Bool {
        WrittenName.isSame(written, as: bytes(name))
    }

    private static func isSame(_ name: StaticString, _ other: StaticString) -> Bool {
        bytes(name).elementsEqual(bytes(other))
    }

    private static func bytes(_ name: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    }

    private static func noObject(_ options: UnsafeRawBufferPointer) -> BridgeError {
        BridgeError(JSONMismatch(path: "$", expected: "an object", got: TextKind.name(of: options)))
    }
}
