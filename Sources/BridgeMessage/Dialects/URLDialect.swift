import BridgeJSON
import Glibc

/// A URL as a call, as pages navigate to it: `{"url": "jxaction://scan?method=aaa&x=%E5%BC%B9", "callbackId": "c1"}`. Host and
/// path, joined by dots, name the task; the query's names and values are options, strings all of them. Only URLs of the
/// schemes that the configuration lists are calls. It is answered in the native dialect.
struct URLDialect: Dialect {
    static let name = "URL"
    private let url: FieldID

    init(_ names: inout FieldNames) { url = names.mark("url") }

    func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
        let text = try fields.string(url)
        guard let afterScheme = Self.afterScheme(text, fields.workspace.urlSchemes) else {
            let schemes = fields.workspace.urlSchemes.map { String(decoding: $0, as: UTF8.self) }
            let known = schemes.isEmpty ? "none" : schemes.joined(separator: ", ")
            throw DialectMismatch(url, "a URL of a scheme that dialects.url_schemes lists (\(known))")
        }
        // What follows # is for the page itself.
        let rest = text.slice(afterScheme, Self.index(of: "#", in: text, from: afterScheme) - afterScheme)
        let nameEnd = Self.index(of: "?", in: rest, from: 0)
        guard let task = Self.task(rest.slice(0, nameEnd), fields.workspace), task.count > 0 else {
            throw DialectMismatch(url, "a URL whose host and path name a task")
        }
        let query = rest.slice(min(nameEnd + 1, rest.count), max(0, rest.count - nameEnd - 1))
        return try fields.call(
            task, query.isEmpty ? DialectText.emptyObject : try options(query, fields.workspace),
            id: try fields.id(FieldID(.callbackID)))
    }

    /// Where the part behind `scheme://` begins; nil: the scheme is none of these.
    private static func afterScheme(_ text: UnsafeRawBufferPointer, _ schemes: [[UInt8]]) -> Int? {
        for scheme in schemes where text.count > scheme.count && text[scheme.count] == UInt8(ascii: ":") {
            let isSame = scheme.indices.allSatisfy { index in
                let byte = text[index]
                return scheme[index] == (byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
            }
            guard isSame else { continue }
            let end = scheme.count + 1
            let hasSlashes =
                text.count >= end + 2 && text[end] == UInt8(ascii: "/") && text[end + 1] == UInt8(ascii: "/")
            return hasSlashes ? end + 2 : end
        }
        return nil
    }

    /// Where the character is, or the end.
    private static func index(of character: Unicode.Scalar, in text: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = text.baseAddress, start < text.count,
            let found = memchr(base + start, Int32(character.value), text.count - start)
        else { return text.count }
        return UnsafeRawPointer(found) - base
    }

    /// Host and path, joined by dots; nil where % does not stand before two hexadecimal digits.
    private static func task(
        _ text: UnsafeRawBufferPointer, _ workspace: DialectWorkspace
    ) -> UnsafeRawBufferPointer? {
        let name = workspace.take(text.count)
        var written = 0
        var read = 0
        while read < text.count {
            let byte = text[read]
            if byte == UInt8(ascii: "/") {
                // One dot for any number of slashes between names.
                if written > 0, name[written - 1] != 0 {
                    name[written] = 0
                    written += 1
                }
                read += 1
                continue
            }
            // A zero stands for the dots that are made here.
            guard let (decoded, length) = decode(text, at: read), decoded != 0 else { return nil }
            name[written] = decoded
            written += 1
            read += length
        }
        if written > 0, name[written - 1] == 0 { written -= 1 }
        for index in 0..<written where name[index] == 0 { name[index] = UInt8(ascii: ".") }
        return UnsafeRawBufferPointer(rebasing: name[..<written])
    }

    /// The byte that stands at a place, and how much of the text it takes up.
    @inline(__always)
    private static func decode(_ text: UnsafeRawBufferPointer, at place: Int) -> (byte: UInt8, length: Int)? {
        let byte = text[place]
        guard byte == UInt8(ascii: "%") else { return (byte, 1) }
        guard place + 2 < text.count, let high = digit(text[place + 1]), let low = digit(text[place + 2]) else {
            return nil
        }
        return (high << 4 | low, 3)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    // MARK: The query

    /// What a byte of a query stands for in a string of JSON; 0: more than one byte, or other bytes decide. Unsafe in form
    /// only: made once, never written again, never given back.
    private nonisolated(unsafe) static let plainBytes: UnsafePointer<UInt8> = {
        let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for byte in UInt8.min ... .max {
            let isPlain = byte >= 0x20 && !"%\"\\".utf8.contains(byte)
            table[Int(byte)] = byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : isPlain ? byte : 0
        }
        return UnsafePointer(table)
    }()

    /// The query as JSON, as `application/x-www-form-urlencoded` has it: `+` is a space.
    private func options(
        _ query: UnsafeRawBufferPointer, _ workspace: DialectWorkspace
    ) throws(DialectMismatch) -> UnsafeRawBufferPointer {
        // A byte becomes six at the most, as an escape; a pair has up to seven characters around it.
        let memory = workspace.take(query.count * 7 + 16)
        guard let place = memory.baseAddress else { return DialectText.emptyObject }
        var writer = QueryWriter(place.assumingMemoryBound(to: UInt8.self))
        var start = 0
        while start < query.count {
            let end = Self.index(of: "&", in: query, from: start)
            defer { start = end + 1 }
            guard end > start else { continue }
            let nameEnd = min(Self.index(of: "=", in: query, from: start), end)
            let valueStart = min(nameEnd + 1, end)
            guard writer.write(query.slice(start, nameEnd - start), query.slice(valueStart, end - valueStart)) else {
                throw DialectMismatch(url, "a URL whose query is UTF-8, with % before two hexadecimal digits")
            }
        }
        let text = writer.finish()
        guard !writer.hasTwins else { throw DialectMismatch(url, "a URL in whose query no name stands twice") }
        return text
    }

    /// Writes an object of strings, into memory that is long enough. Byte by byte over plain pointers: a URL is all that such
    /// a message consists of.
    private struct QueryWriter {
        private let start: UnsafeMutablePointer<UInt8>
        private var next: UnsafeMutablePointer<UInt8>
        /// A bit for each name, by length, first and last byte: two names with the same bit may be the same.
        private var nameBits: UInt64 = 0
        /// Whether a name stands there twice.
        private(set) var hasTwins = false

        init(_ start: UnsafeMutablePointer<UInt8>) {
            self.start = start
            next = start + 1
            start.pointee = UInt8(ascii: "{")
        }

        mutating func write(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
            if next > start + 1 { put(UInt8(ascii: ",")) }
            let nameStart = next
            guard writeString(name) else { return false }
            noteName(from: nameStart)
            put(UInt8(ascii: ":"))
            return writeString(value)
        }

        @inline(__always)
        private mutating func noteName(from nameStart: UnsafeMutablePointer<UInt8>) {
            let count = next - nameStart
            let hash = Int(nameStart[1]) &+ Int((next - 2).pointee) &* 7 &+ count &* 3
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: hash & 63)
            if nameBits & bit != 0, isKnown(nameStart, count) { hasTwins = true }
            nameBits |= bit
        }

        /// Whether the string stands among the names before it. Walks over all that was written.
        private func isKnown(_ name: UnsafeMutablePointer<UInt8>, _ count: Int) -> Bool {
            var place = start + 1
            while place < name {
                let end = endOfString(place)
                if end - place == count, memcmp(place, name, count) == 0 { return true }
                // Past the colon, the value and the comma.
                place = endOfString(end + 1) + 1
            }
            return false
        }

        /// Behind the string that begins at a place.
        private func endOfString(_ place: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
            var end = place + 1
            while end.pointee != UInt8(ascii: "\"") { end += end.pointee == UInt8(ascii: "\\") ? 2 : 1 }
            return end + 1
        }

        mutating func finish() -> UnsafeRawBufferPointer {
            put(UInt8(ascii: "}"))
            return UnsafeRawBufferPointer(start: start, count: next - start)
        }

        @inline(__always)
        private mutating func put(_ byte: UInt8) {
            next.pointee = byte
            next += 1
        }

        private mutating func writeString(_ text: UnsafeRawBufferPointer) -> Bool {
            put(UInt8(ascii: "\""))
            let contentStart = next
            guard let hasDecoded = writeContent(text) else { return false }
            let written = UnsafeRawBufferPointer(start: contentStart, count: next - contentStart)
            put(UInt8(ascii: "\""))
            // The URL itself is UTF-8, as the whole message is.
            return !hasDecoded || String(validating: written, as: UTF8.self) != nil
        }

        /// - Returns: Whether anything but ASCII stood there as % and digits; nil: % before something else.
        private mutating func writeContent(_ text: UnsafeRawBufferPointer) -> Bool? {
            guard let base = text.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
            let end = base + text.count
            var from = base
            var hasDecoded = false
            while true {
                copyPlain(&from, end)
                guard from < end else { return hasDecoded }
                let byte = from.pointee
                from += 1
                if byte == UInt8(ascii: "%") {
                    guard let (decoded, _) = URLDialect.decode(text, at: from - base - 1) else { return nil }
                    from += 2
                    hasDecoded = hasDecoded || decoded >= 0x80
                    putEscaped(decoded)
                } else {
                    putEscaped(byte)
                }
            }
        }

        /// Copies what stands for one byte. In variables of its own, which stay in registers.
        @inline(__always)
        private mutating func copyPlain(_ from: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) {
            let plain = URLDialect.plainBytes
            var source = from
            var target = next
            while source < end {
                let byte = plain[Int(source.pointee)]
                guard byte != 0 else { break }
                target.pointee = byte
                source += 1
                target += 1
            }
            from = source
            next = target
        }

        private mutating func putEscaped(_ byte: UInt8) {
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { return put(byte) }
            put(UInt8(ascii: "\\"))
            guard byte < 0x20 else { return put(byte) }
            for digit in "u00".utf8 { put(digit) }
            let digits: StaticString = "0123456789abcdef"
            put(digits.utf8Start[Int(byte >> 4)])
            put(digits.utf8Start[Int(byte & 15)])
        }
    }
}
