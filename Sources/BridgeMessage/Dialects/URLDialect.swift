import BridgeJSON
import Glibc

/// A URL as a call, as pages navigate to it: `{"url": "jxaction://scan?method=aaa&x=%E5%BC%B9", "callbackId": "c1"}`.
/// Host and path, joined by dots, are the task's name. The query's names and values are the options; all are strings.
/// Only URLs with a scheme that the configuration lists are calls. The answer is in the native dialect, with the
/// function's name from `callback` or `callbackFunction` of the query.
struct URLDialect: NamedCallbackDialect {
    /// A URL is decoded byte by byte: longer or more options require a message.
    private static let maximumURLBytes = ForeignReader.maximumBytes
    private static let maximumQueryNames = 1024

    func recognition(of message: ForeignMessage) -> Recognition { message.has(.url) ? .certain : .none }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        let text = try message.string(.url)
        guard text.count <= Self.maximumURLBytes else {
            throw DialectMismatch(.url, "a URL of at most \(Self.maximumURLBytes) bytes")
        }
        let schemes = message.reader.urlSchemes
        guard let afterScheme = Self.afterScheme(text, schemes) else {
            let names = schemes.map { String(decoding: $0, as: UTF8.self) }
            let known = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw DialectMismatch(.url, "a URL of a scheme that dialects.url_schemes lists (\(known))")
        }
        var url = URLText(Self.withoutFragment(text.slice(afterScheme, text.count - afterScheme)), message.reader)
        guard let task = Self.task(&url) else { throw DialectMismatch(.url, "a URL whose host and path name a task") }
        if url.peek() != nil { url.skip() }
        var pairs = try Self.pairs(&url)
        var id = try id(of: message)
        for member in NamedCallback.members {
            guard let name = pairs.takeValue(of: member) else { continue }
            id = try NamedCallback.id(
                id, member: member, name: message.reader.text(name), message.reader, message.dialect)
            break
        }
        return try message.call(task, pairs.json(message.reader), id: id)
    }

    /// Returns the position after `scheme:` or `scheme://`; nil if the scheme is not in the list. The case of its
    /// letters does not matter.
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

    /// Returns the part before `#`; the part after it is for the page itself.
    private static func withoutFragment(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let start = text.baseAddress, let fragment = memchr(start, CInt(UInt8(ascii: "#")), text.count) else {
            return text
        }
        return text.slice(0, UnsafeRawPointer(fragment) - start)
    }

    /// Reads host and path, up to `?`, joined by dots, with any number of slashes between names; nil if they contain no
    /// name that can be decoded.
    private static func task(_ url: inout URLText) -> UnsafeRawBufferPointer? {
        var isBetweenNames = false
        while let byte = url.peek(), byte != UInt8(ascii: "?") {
            if byte == UInt8(ascii: "/") {
                isBetweenNames = true
                url.skip()
                continue
            }
            if isBetweenNames, url.written > 0 { url.write(UInt8(ascii: ".")) }
            isBetweenNames = false
            guard url.decode() else { return nil }
            url.copy { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "%") }
        }
        guard let name = url.part(from: 0), !name.isEmpty, !name.contains(0) else { return nil }
        return name
    }

    /// Reads the names and values of a query in the form `application/x-www-form-urlencoded`: `+` is a space.
    private static func pairs(_ url: inout URLText) throws(DialectMismatch) -> QueryPairs {
        var pairs = QueryPairs()
        while let byte = url.peek() {
            guard byte != UInt8(ascii: "&") else {
                url.skip()
                continue
            }
            guard let (name, value) = pair(&url) else {
                throw DialectMismatch(.url, "a URL whose query is UTF-8, with % before two hexadecimal digits")
            }
            guard pairs.add(name, value) else {
                throw DialectMismatch(.url, "a URL in whose query no name occurs twice")
            }
            guard pairs.count <= Self.maximumQueryNames else {
                throw DialectMismatch(.url, "a URL whose query has at most \(Self.maximumQueryNames) names")
            }
        }
        return pairs
    }

    /// Reads the next pair; nil if it cannot be decoded.
    private static func pair(_ url: inout URLText) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard let name = url.decodeForm(upTo: UInt8(ascii: "=")) else { return nil }
        if url.peek() == UInt8(ascii: "=") { url.skip() }
        guard let value = url.decodeForm(upTo: UInt8(ascii: "&")) else { return nil }
        return (name, value)
    }
}

/// The decoded names and values of a URL's query, in the memory of the message's reader.
private struct QueryPairs {
    private var pairs: [(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)] = []
    /// Up to this number, names are compared with each other, which costs less than hashing.
    private static let maximumComparedNames = 8
    /// The hashes of more names: only a name with a known hash is compared. The process's seed, which no client knows,
    /// is used.
    private var hashes: Set<Int> = []

    init() { pairs.reserveCapacity(Self.maximumComparedNames) }

    var count: Int { pairs.count }

    /// Adds a pair.
    ///
    /// - Returns: Whether no earlier pair has the name.
    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        defer { pairs.append((name, value)) }
        if pairs.count >= Self.maximumComparedNames {
            if hashes.isEmpty { hashes = Set(pairs.map { Self.hash($0.name) }) }
            guard !hashes.insert(Self.hash(name)).inserted else { return true }
        }
        return !pairs.contains { Self.isSame($0.name, name) }
    }

    private static func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        one.count == other.count && one.elementsEqual(other)
    }

    private static func hash(_ name: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return hasher.finalize()
    }

    /// Removes a pair.
    ///
    /// - Returns: Its value as a JSON string; nil if there is no such name.
    mutating func takeValue(of name: StaticString) -> [UInt8]? {
        let wanted = UnsafeRawBufferPointer(name)
        guard let index = pairs.firstIndex(where: { Self.isSame($0.name, wanted) }) else { return nil }
        var value: [UInt8] = []
        JSONText.appendQuoted(utf8: pairs.remove(at: index).value, to: &value)
        return value
    }

    /// Returns the pairs as an object whose values are strings, in the memory of the message's reader.
    func json(_ reader: ForeignReader) -> UnsafeRawBufferPointer {
        guard pairs.allSatisfy({ Self.isPlain($0.name) && Self.isPlain($0.value) }) else {
            return reader.text(escapedJSON())
        }
        let memory = reader.take(pairs.reduce(pairs.isEmpty ? 2 : 1) { $0 + $1.name.count + $1.value.count + 6 })
        var json = ByteWriter(memory)
        json.append("{")
        for (name, value) in pairs {
            json.append(json.count > 1 ? ",\"" : "\"")
            json.append(name)
            json.append("\":\"")
            json.append(value)
            json.append("\"")
        }
        json.append("}")
        return UnsafeRawBufferPointer(memory)
    }

    /// Whether a text needs no escapes in JSON.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        var isASCII = true
        return JSONText.endOfPlainText(in: text, from: 0, &isASCII) == text.count
    }

    private func escapedJSON() -> [UInt8] {
        var json: [UInt8] = []
        json.reserveCapacity(pairs.reduce(2) { $0 + $1.name.count + $1.value.count + 6 })
        json.append(UInt8(ascii: "{"))
        for (name, value) in pairs {
            if json.count > 1 { json.append(UInt8(ascii: ",")) }
            JSONText.appendQuoted(utf8: name, to: &json)
            json.append(UInt8(ascii: ":"))
            JSONText.appendQuoted(utf8: value, to: &json)
        }
        json.append(UInt8(ascii: "}"))
        return json
    }
}

/// Writes bytes to memory that has room for all of them.
private struct ByteWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    @inline(__always)
    mutating func append(_ literal: StaticString) { append(UnsafeRawBufferPointer(literal)) }
}
