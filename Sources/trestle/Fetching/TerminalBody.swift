import BridgeClient
import BridgeJSON

/// A body on a terminal: text with escaped control characters.
enum TerminalBody {
    /// Writes the body.
    ///
    /// - Parameter look: Called with the bytes, in order.
    /// - Throws: ``UsageFailure`` if it is not text; `BridgeError` if it is not complete.
    static func write(_ reader: ByteReader, to screen: Screen, look: ([UInt8]) -> Void = { _ in }) async throws {
        // The beginning of a character that continues in the next bytes.
        var rest: [UInt8] = []
        var last: UInt8 = 0x0A
        for try await bytes in reader {
            look(bytes)
            guard !bytes.contains(0) else {
                throw UsageFailure("the body is not a text: write it to a file with --output, or into a pipe")
            }
            let all = rest + bytes
            let end = wholeCharacters(all)
            screen.write(foreign: String(decoding: all[..<end], as: UTF8.self))
            rest = Array(all[end...])
            last = bytes.last ?? last
        }
        if !rest.isEmpty { screen.write(foreign: String(decoding: rest, as: UTF8.self)) }
        if last != 0x0A { screen.write("\n") }
    }

    /// Returns the length of the bytes without an incomplete UTF-8 character at the end.
    static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        // The first byte of a character determines its length and is one of the last three bytes.
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            guard byte & 0xC0 != 0x80 else { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
