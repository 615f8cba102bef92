import BridgeJSON

/// A JSON object as text, assembled member by member.
struct ObjectText {
    private var text = [UInt8(ascii: "{")]

    mutating func add(_ name: String, _ value: JSON) {
        begin(name)
        value.write(to: &text)
    }

    /// - Parameter value: JSON text.
    mutating func add(_ name: String, text value: [UInt8]) {
        begin(name)
        text += value
    }

    /// Returns the complete object.
    consuming func finished() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text
    }

    private mutating func begin(_ name: String) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        JSONText.appendQuoted(name, to: &text)
        text.append(UInt8(ascii: ":"))
    }
}
