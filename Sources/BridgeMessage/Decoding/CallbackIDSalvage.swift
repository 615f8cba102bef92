/// Finds the callbackId of a line that is not JSON, or of the stored beginning of a line that was too long.
///
/// It is a tolerant walk over the top level of a possible object, and reads only brackets, strings and commas. The id
/// counts only if its key and its value are complete at the top level. A doubtful id is not used, because an error with
/// a wrong id would end another call.
enum CallbackIDSalvage {
    /// - Returns: The id, and whether the line should have answered a call, according to its keys up to the one after
    ///   the id.
    static func find(
        in prefix: UnsafeRawBufferPointer, _ scratch: inout EscapeScratch
    ) -> (id: CallbackID, isReply: Bool)? {
        var walk = Walk(bytes: prefix)
        guard let text = walk.findValue(of: "callbackId") else { return nil }
        walk.noteNextKey()
        let isEscaped = text.contains(UInt8(ascii: "\\"))
        // Escapes have not been checked here; an id with an escape is rare and is ignored.
        guard !isEscaped, !text.contains(where: { $0 < 0x20 }), String(validating: text, as: UTF8.self) != nil else {
            return nil
        }
        guard let id = CallbackID(text, isEscaped: false, &scratch) else { return nil }
        guard id.isString || isNumber(id.text) else { return nil }
        return (id, walk.hasOutcome && !walk.hasTask)
    }

    /// Whether digits are a JSON number, which has no leading zero: the answer contains the id as written.
    private static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        let digits = text.drop { $0 == UInt8(ascii: "-") }
        return digits.count == 1 || digits.first != UInt8(ascii: "0")
    }

    private struct Walk {
        let bytes: UnsafeRawBufferPointer
        var position = 0
        private(set) var hasTask = false
        private(set) var hasOutcome = false

        /// Returns the scalar value of a key of the top level; nil if it does not end within the bytes.
        mutating func findValue(of wanted: StaticString) -> UnsafeRawBufferPointer? {
            skipSpace()
            guard take("{") else { return nil }
            while true {
                skipSpace()
                guard let key = string() else { return nil }
                skipSpace()
                guard take(":") else { return nil }
                skipSpace()
                if Self.isKey(key, wanted) { return scalar() }
                note(key)
                guard skipToComma() else { return nil }
            }
        }

        /// Notes the key after the value that was found.
        mutating func noteNextKey() {
            guard skipToComma() else { return }
            skipSpace()
            if let key = string() { note(key) }
        }

        private mutating func note(_ key: UnsafeRawBufferPointer) {
            if Self.isKey(key, "task") { hasTask = true }
            if Self.isKey(key, "result") || Self.isKey(key, "error") { hasOutcome = true }
        }

        private static func isKey(_ key: UnsafeRawBufferPointer, _ wanted: StaticString) -> Bool {
            key.elementsEqual(UnsafeBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount))
        }

        private mutating func skipSpace() {
            while position < bytes.count, isSpace(bytes[position]) { position += 1 }
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// Returns the content of the string that starts here; nil if none starts, or if it does not end.
        private mutating func string() -> UnsafeRawBufferPointer? {
            guard take("\"") else { return nil }
            let start = position
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\\"): position += 2
                case UInt8(ascii: "\""):
                    position += 1
                    return bytes.slice(start, position - 1 - start)
                default: position += 1
                }
            }
            return nil
        }

        /// Returns a string with its quotes, or a number that is followed by another byte.
        private mutating func scalar() -> UnsafeRawBufferPointer? {
            let start = position
            if bytes.indices.contains(position), bytes[position] == UInt8(ascii: "\"") {
                guard string() != nil else { return nil }
                return bytes.slice(start, position - start)
            }
            while position < bytes.count, bytes[position] == UInt8(ascii: "-") || bytes[position] &- 0x30 < 10 {
                position += 1
            }
            guard position < bytes.count, position > start else { return nil }
            let follower = bytes[position]
            guard isSpace(follower) || follower == UInt8(ascii: ",") || follower == UInt8(ascii: "}") else {
                return nil
            }
            return bytes.slice(start, position - start)
        }

        /// Skips a value of any kind and the comma after it.
        private mutating func skipToComma() -> Bool {
            var depth = 0
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return false }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return false }
                    depth -= 1
                case UInt8(ascii: ",") where depth == 0:
                    position += 1
                    return true
                default: break
                }
                position += 1
            }
            return false
        }
    }
}
