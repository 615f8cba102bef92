// Finds the ends of strings and values in a text that has been checked, without reading their content. If the text is
// not JSON, it still reads nothing after the end of the text.
extension JSONText {
    /// Returns the position after the string whose first quote is at `start`; nil if the text ends within it.
    package static func endOfString(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start + 1
        var isASCII = true
        while true {
            position = endOfPlainText(in: text, from: position, &isASCII)
            guard position < text.count else { return nil }
            if text[position] == UInt8(ascii: "\"") { return position + 1 }
            // The character after a backslash does not end a string.
            position = min(position + 2, text.count)
        }
    }

    /// Returns the position after the value that begins at `start`; nil if the text ends within it, or with a number or
    /// a word.
    package static func endOfValue(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start
        var depth = 0
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(in: text, from: position) else { return nil }
                if depth == 0 { return end }
                position = end
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The end of the enclosing container, after a number or a word.
                if depth == 0 { return position }
                depth -= 1
                if depth == 0 { return position + 1 }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return position }
            default: break
            }
            position += 1
        }
        return nil
    }
}
