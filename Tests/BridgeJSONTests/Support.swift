import BridgeJSON
import Glibc
import TestSupport

extension SeededGenerator {
    /// Returns a random value with at most `depth` levels.
    mutating func json(depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(number())
        case 3, 4: return .string(string())
        case 5: return .array((0..<Int.random(in: 0...5, using: &self)).map { _ in json(depth: depth - 1) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...20, using: &self) { object[string()] = json(depth: depth - 1) }
            return .object(object)
        }
    }

    /// Returns a random number: an integer, fraction or exponent, possibly beyond the range of machine types.
    mutating func number() -> JSONNumber {
        var text = Bool.random(using: &self) ? "-" : ""
        text += Bool.random(using: &self) ? "0" : "\(Int.random(in: 1...9, using: &self))" + digits(0...25)
        if Bool.random(using: &self) { text += "." + digits(1...25) }
        if Bool.random(using: &self) {
            text += pick(["e", "E"]) + pick(["", "+", "-"]) + digits(1...4)
        }
        // The text follows the grammar.
        return JSONNumber(text: text) ?? JSONNumber(0)
    }

    private mutating func digits(_ count: ClosedRange<Int>) -> String {
        (0..<Int.random(in: count, using: &self)).map { _ in "\(Int.random(in: 0...9, using: &self))" }.joined()
    }

    /// Returns random text: letters, characters that JSON escapes, scalars of every length and combining ones.
    mutating func string() -> String {
        let pieces = [
            "a", "b", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "€", "𝄞", "👩‍👩‍👧", "\u{2028}",
        ]
        return (0..<Int.random(in: 0...6, using: &self)).map { _ in pick(pieces) }.joined()
    }

    private mutating func pick(_ choices: [String]) -> String {
        choices[Int.random(in: 0..<choices.count, using: &self)]
    }
}

/// Decodes a type from bytes.
func decode<T: Decodable>(
    _ type: T.Type, _ bytes: [UInt8], unknownKeys: UnknownKeys = .ignore
) throws(JSONMismatch) -> T {
    let result = bytes.withUnsafeBytes { bytes in
        Result { () throws(JSONMismatch) in
            try JSONCoding.decode(type, from: bytes, unknownKeys: unknownKeys)
        }
    }
    return try result.get()
}

extension SchemaCheck {
    /// Returns the reason for which a text is refused; `nil` if it fits.
    func misfit(_ text: String) -> SchemaMisfit? { misfit(Array(text.utf8)) }

    func misfit(_ bytes: [UInt8]) -> SchemaMisfit? {
        bytes.withUnsafeBytes { bytes in
            do throws(SchemaMisfit) {
                try check(bytes)
                return nil
            } catch {
                return error
            }
        }
    }
}
