import BridgeJSON
import CBridgeJSON
import Glibc

/// A URL as a call, as pages navigate to it: `{"url": "jxaction://scan?method=aaa&x=%E5%BC%B9", "callbackId": "c1"}`.
/// Host and path, joined by dots, name the task; the query's names and values are options, strings all of them. Only
/// URLs of the schemes that the configuration lists are calls. It is answered in the native dialect.
final class URLDialect: Dialect {
    override class var name: String { "URL" }
    private let url: FieldID
    /// A query is decoded name by name: longer options go into a message.
    private static let maximumQueryBytes = 64 * 1024

    required init(_ names: inout FieldNames) {
        url = names.mark("url")
        super.init(&names)
    }

    override func read(_ fields: DialectFields) throws(DialectMismatch) -> DialectMessage {
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
        guard query.count <= Self.maximumQueryBytes else {
            throw DialectMismatch(url, "a URL whose query has at most \(Self.maximumQueryBytes) bytes")
        }
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

    /// Host and path, joined by dots; nil where % does not stand before two hexadecimal digits, or the bytes that are
    /// encoded make no UTF-8.
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
        var hasEncodedBytes = false
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
                    hasEncodedBytes = hasEncodedBytes || decoded > 0x7F
                }
            }
            name.storeBytes(of: byte, toByteOffset: written, as: UInt8.self)
            written += 1
        }
        let task = UnsafeRawBufferPointer(start: name, count: written > 0 && !isNameOpen ? written - 1 : written)
        // The message itself is UTF-8; what is encoded need not be.
        guard !hasEncodedBytes || String(validating: task, as: UTF8.self) != nil else { return nil }
        return task
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
        let first = start.assumingMemoryBound(to: CChar.self)
        let object = place.assumingMemoryBound(to: CChar.self)
        var reading = bridge_query(
            next: first, end: first + query.count, object: object, string: nil, names: 0, is_value: false,
            may_have_twins: false)
        while !bridge_query_run(&reading) {
            guard Self.writeEncoded(&reading) else {
                throw DialectMismatch(url, "a URL whose query is UTF-8, with % before two hexadecimal digits")
            }
        }
        let text = UnsafeRawBufferPointer(start: object, count: reading.object - object)
        guard !reading.may_have_twins || !workspace.hasTwins(text) else {
            throw DialectMismatch(url, "a URL in whose query no name stands twice")
        }
        return text
    }

    /// Writes what bytes of a string stand for that are more than themselves, up to the first that is not.
    private static func writeEncoded(_ query: inout bridge_query) -> Bool {
        var encoded: [UInt8] = []
        while query.next < query.end, query.next.pointee == CChar(UInt8(ascii: "%")) {
            let rest = UnsafeRawBufferPointer(start: query.next + 1, count: query.end - query.next - 1)
            guard let byte = decoded(rest, at: 0) else { return false }
            encoded.append(byte)
            query.next += 3
        }
        if encoded.isEmpty {
            encoded = [UInt8(bitPattern: query.next.pointee)]
            query.next += 1
        }
        // The URL itself is UTF-8, as the whole message is: only what is encoded side by side can make a character.
        guard String(validating: encoded, as: UTF8.self) != nil else { return false }
        for byte in encoded { putEscaped(byte, &query) }
        return true
    }

    private static func putEscaped(_ byte: UInt8, _ query: inout bridge_query) {
        func put(_ byte: UInt8) {
            query.object.pointee = CChar(bitPattern: byte)
            query.object += 1
        }
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { return put(byte) }
        put(UInt8(ascii: "\\"))
        guard byte < 0x20 else { return put(byte) }
        for digit in "u00".utf8 { put(digit) }
        let digits: StaticString = "0123456789abcdef"
        put(digits.utf8Start[Int(byte >> 4)])
        put(digits.utf8Start[Int(byte & 15)])
    }
}
