import BridgeJSON
import CBridgeJSON
import Glibc

/// A URL as a call, as pages navigate to it: `{"url": "jxaction://scan?method=aaa&x=%E5%BC%B9", "callbackId": "c1"}`. Host and
/// path, joined by dots, name the task; the query's names and values are options, strings all of them. Only URLs of the
/// schemes that the configuration lists are calls. It is answered in the native dialect.
final class URLDialect: Dialect {
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
        guard let start = text.baseAddress else { return nil }
        for scheme in schemes where text.count > scheme.count && text[scheme.count] == UInt8(ascii: ":") {
            // Compared as it stands first: nearly every page writes it in small letters.
            guard memcmp(start, scheme, scheme.count) == 0 || isSame(text, scheme) else { continue }
            let end = scheme.count + 1
            let hasSlashes =
                text.count >= end + 2 && text[end] == UInt8(ascii: "/") && text[end + 1] == UInt8(ascii: "/")
            return hasSlashes ? end + 2 : end
        }
        return nil
    }

    /// Whether the text begins with a scheme, in letters of any case.
    private static func isSame(_ text: UnsafeRawBufferPointer, _ scheme: [UInt8]) -> Bool {
        scheme.indices.allSatisfy { index in
            let byte = text[index]
            return scheme[index] == (byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
        }
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
        guard let source = text.baseAddress, let name = workspace.take(text.count).baseAddress else {
            return text
        }
        var written = 0
        var read = 0
        // One dot for any number of slashes between names.
        var isNameOpen = false
        while read < text.count {
            var byte = source.load(fromByteOffset: read, as: UInt8.self)
            read += 1
            if byte == UInt8(ascii: "/") {
                guard isNameOpen else { continue }
                isNameOpen = false
                byte = UInt8(ascii: ".")
            } else {
                isNameOpen = true
                if byte == UInt8(ascii: "%") {
                    guard let decoded = decoded(text, at: read), decoded != 0 else { return nil }
                    byte = decoded
                    read += 2
                }
            }
            name.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
            written += 1
        }
        return UnsafeRawBufferPointer(start: name, count: written > 0 && !isNameOpen ? written - 1 : written)
    }

    /// The byte that two hexadecimal digits at a place stand for; nil: there are none.
    private static func decoded(_ text: UnsafeRawBufferPointer, at place: Int) -> UInt8? {
        guard place + 1 < text.count, let high = digit(text[place]), let low = digit(text[place + 1]) else {
            return nil
        }
        return high << 4 | low
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

    /// The query as JSON, as `application/x-www-form-urlencoded` has it: `+` is a space.
    private func options(
        _ query: UnsafeRawBufferPointer, _ workspace: DialectWorkspace
    ) throws(DialectMismatch) -> UnsafeRawBufferPointer {
        // A byte becomes six at the most, as an escape; a pair has up to seven characters around it.
        let memory = workspace.take(query.count * 7 + Int(BRIDGE_QUERY_PADDING))
        guard let place = memory.baseAddress, let start = query.baseAddress else { return DialectText.emptyObject }
        var writer = QueryWriter(
            from: start.assumingMemoryBound(to: CChar.self), count: query.count,
            to: place.assumingMemoryBound(to: CChar.self))
        guard let text = writer.write() else {
            throw DialectMismatch(url, "a URL whose query is UTF-8, with % before two hexadecimal digits")
        }
        guard !writer.hasTwins else { throw DialectMismatch(url, "a URL in whose query no name stands twice") }
        return text
    }

    /// Writes an object of strings, in one pass over the query, into memory that is long enough. Over plain pointers: a URL is
    /// all that such a message consists of.
    private struct QueryWriter {
        private var source: UnsafePointer<CChar>
        private let sourceEnd: UnsafePointer<CChar>
        private let start: UnsafeMutablePointer<CChar>
        private var next: UnsafeMutablePointer<CChar>
        /// A bit for each name, by length, first and last byte: two names with the same bit may be the same.
        private var nameBits: UInt64 = 0
        /// Whether a name stands there twice.
        private(set) var hasTwins = false

        init(from query: UnsafePointer<CChar>, count: Int, to start: UnsafeMutablePointer<CChar>) {
            source = query
            sourceEnd = query + count
            self.start = start
            next = start
        }

        /// The object; nil where % stands before something else than digits, or what they stand for is not UTF-8.
        mutating func write() -> UnsafeRawBufferPointer? {
            put("{")
            while source < sourceEnd {
                if skip("&") { continue }
                if next > start + 1 { put(",") }
                let nameStart = next
                guard writeString(isName: true) else { return nil }
                noteName(from: nameStart)
                put(":")
                _ = skip("=")
                guard writeString(isName: false) else { return nil }
            }
            put("}")
            return UnsafeRawBufferPointer(start: start, count: next - start)
        }

        /// Passes the character, where it stands next.
        @inline(__always)
        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard source < sourceEnd, source.pointee == CChar(truncatingIfNeeded: character.value) else { return false }
            source += 1
            return true
        }

        @inline(__always)
        private mutating func put(_ character: Unicode.Scalar) {
            next.pointee = CChar(truncatingIfNeeded: character.value)
            next += 1
        }

        // MARK: Names

        @inline(__always)
        private mutating func noteName(from nameStart: UnsafeMutablePointer<CChar>) {
            let count = next - nameStart
            let hash = Int(nameStart[1]) &+ Int((next - 2).pointee) &* 7 &+ count &* 3
            let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: hash & 63)
            if nameBits & bit != 0, isKnown(nameStart, count) { hasTwins = true }
            nameBits |= bit
        }

        /// Whether the string stands among the names before it. Walks over all that was written.
        private func isKnown(_ name: UnsafeMutablePointer<CChar>, _ count: Int) -> Bool {
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
        private func endOfString(_ place: UnsafeMutablePointer<CChar>) -> UnsafeMutablePointer<CChar> {
            var end = place + 1
            while end.pointee != CChar(UInt8(ascii: "\"")) { end += end.pointee == CChar(UInt8(ascii: "\\")) ? 2 : 1 }
            return end + 1
        }

        // MARK: Strings

        /// Writes a name, up to its `=`, or a value, up to the next pair; false where it is none.
        @inline(__always)
        private mutating func writeString(isName: Bool) -> Bool {
            put("\"")
            let contentStart = next
            copyPlain(isName)
            guard source < sourceEnd, !isEnd(source.pointee, isName) else {
                put("\"")
                return true
            }
            return writeEncoded(isName, contentStart)
        }

        /// Writes the rest of a string in which not every byte stands for itself.
        private mutating func writeEncoded(_ isName: Bool, _ contentStart: UnsafeMutablePointer<CChar>) -> Bool {
            var hasDecoded = false
            while source < sourceEnd, !isEnd(source.pointee, isName) {
                var byte = UInt8(bitPattern: source.pointee)
                source += 1
                if byte == UInt8(ascii: "%") {
                    let rest = UnsafeRawBufferPointer(start: source, count: sourceEnd - source)
                    guard let decoded = URLDialect.decoded(rest, at: 0) else { return false }
                    byte = decoded
                    source += 2
                    hasDecoded = hasDecoded || byte >= 0x80
                }
                putEscaped(byte)
                copyPlain(isName)
            }
            let written = UnsafeRawBufferPointer(start: contentStart, count: next - contentStart)
            put("\"")
            // The URL itself is UTF-8, as the whole message is.
            return !hasDecoded || String(validating: written, as: UTF8.self) != nil
        }

        @inline(__always)
        private mutating func copyPlain(_ isName: Bool) {
            let count = bridge_query_copy(source, sourceEnd - source, isName, next)
            source += count
            next += count
        }

        @inline(__always)
        private func isEnd(_ character: CChar, _ isName: Bool) -> Bool {
            character == CChar(UInt8(ascii: "&")) || isName && character == CChar(UInt8(ascii: "="))
        }

        private mutating func putEscaped(_ byte: UInt8) {
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                return put(Unicode.Scalar(byte))
            }
            put("\\")
            guard byte < 0x20 else { return put(Unicode.Scalar(byte)) }
            for digit in "u00".unicodeScalars { put(digit) }
            let digits: StaticString = "0123456789abcdef"
            put(Unicode.Scalar(digits.utf8Start[Int(byte >> 4)]))
            put(Unicode.Scalar(digits.utf8Start[Int(byte & 15)]))
        }
    }
}
