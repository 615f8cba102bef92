import BridgeClient
import BridgeJSON

/// A body on a terminal: text, in which what a terminal would obey is escaped.
enum TerminalBody {
    /// - Parameter look: Called with the bytes, in order.
    /// - Throws: ``UsageFailure``, where it is no text; `BridgeError`: it is not complete.
    static func write(_ reader: ByteReader, to screen: Screen, look: ([UInt8]) -> Void = { _ in }) async throws {
        // The start of a character whose rest comes with the next bytes.
        var rest: [UInt8] = []
        var last: UInt8 = 0x0A
        for try await bytes in reader {
            look(bytes)
            guard !bytes.contains(0) else {
                throw UsageFailure("the body is no text: write it to a file with --output, or into a pipe")
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

    /// Where the bytes end, without a character of UTF-8 whose end is missing.
    static func wholeCharacters(_ bytes: [UInt8]) -> Int {
        // The first byte of a character says how many there are; it is one of the last three.
        for back in 1...3 where back <= bytes.count {
            let byte = bytes[bytes.count - back]
            guard byte & 0xC0 != 0x80 else { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}
