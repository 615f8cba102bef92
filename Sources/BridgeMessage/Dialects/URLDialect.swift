import BridgeJSON

/// A URL as a call, as pages navigate to it: `{"url": "jxaction://scan?method=aaa&x=%E5%BC%B9", "callbackId": "c1"}`.
/// Host and path, joined by dots, name the task; the query's names and values are options, strings all of them. Only
/// URLs of the schemes that the configuration lists are calls. It is answered in the native dialect, with the function's
/// name that `callback` or `callbackFunction` of the query bears.
struct URLDialect: NamedCallbackDialect {
    /// A query is decoded name by name: longer options, and more of them, go into a message.
    private static let maximumQueryBytes = ForeignReader.maximumBytes
    private static let maximumQueryNames = 1024

    func recognition(of message: ForeignMessage) -> Recognition { message.has(.url) ? .certain : .none }

    func read(_ message: ForeignMessage) throws(DialectMismatch) -> ForeignMeaning {
        let text = try message.string(.url)
        let schemes = message.reader.urlSchemes
        guard let afterScheme = Self.afterScheme(text, schemes) else {
            let names = schemes.map { String(decoding: $0, as: UTF8.self) }
            let known = names.isEmpty ? "none" : names.joined(separator: ", ")
            throw DialectMismatch(.url, "a URL of a scheme that dialects.url_schemes lists (\(known))")
        }
        // What follows # is for the page itself.
        let rest = text[afterScheme...].prefix { $0 != UInt8(ascii: "#") }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        guard let task = Self.task(path) else { throw DialectMismatch(.url, "a URL whose host and path name a task") }
        let query = rest[path.endIndex...].dropFirst()
        guard query.count <= Self.maximumQueryBytes else {
            throw DialectMismatch(.url, "a URL whose query has at most \(Self.maximumQueryBytes) bytes")
        }
        var object = try object(of: query)
        var id = try id(of: message)
        for member in NamedCallback.members {
            guard let name = object.takeValue(of: member) else { continue }
            id = try NamedCallback.id(
                id, member: member, name: message.reader.text(name), message.reader, message.dialect)
            break
        }
        return try message.call(message.reader.text(task), message.reader.text(object.json), id: id)
    }

    /// Where the part behind `scheme:` or `scheme://` begins; nil: the scheme is none of these. Letters of a scheme are
    /// of any case.
    private static func afterScheme(_ text: UnsafeRawBufferPointer, _ schemes: [[UInt8]]) -> Int? {
        for scheme in schemes where text.count > scheme.count && text[scheme.count] == UInt8(ascii: ":") {
            let isSame = scheme.indices.allSatisfy { index in
                let byte = text[index]
                return scheme[index] == (byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
            }
            guard isSame else { continue }
            let end = scheme.count + 1
            return text[end...].starts(with: "//".utf8) ? end + 2 : end
        }
        return nil
    }

    /// Host and path, joined by dots, however many slashes stand between names; nil: they name nothing that can be
    /// decoded.
    private static func task(_ path: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        var bytes = PercentEncoding.Bytes(path)
        var name: [UInt8] = []
        var isBetweenNames = false
        while let byte = bytes.next() {
            if bytes.isPlain, byte == UInt8(ascii: "/") {
                isBetweenNames = true
                continue
            }
            if isBetweenNames, !name.isEmpty { name.append(UInt8(ascii: ".")) }
            isBetweenNames = false
            name.append(byte)
            name += bytes.takeOrdinary()
        }
        return name.isEmpty || name.contains(0) || !bytes.isText(name) ? nil : name
    }

    /// The query as JSON, as `application/x-www-form-urlencoded` has it: `+` is a space.
    private func object(of query: Slice<UnsafeRawBufferPointer>) throws(DialectMismatch) -> QueryObject {
        var bytes = PercentEncoding.Bytes(query)
        var object = QueryObject()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "&") where bytes.isPlain: try close(&object)
            case UInt8(ascii: "=") where bytes.isPlain && !object.isInValue: object.beginValue()
            case UInt8(ascii: "+") where bytes.isPlain: object.append(UInt8(ascii: " "))
            default: object.append(byte)
            }
            let ordinary = bytes.takeOrdinary()
            if !ordinary.isEmpty { object.append(ordinary) }
        }
        try close(&object)
        object.end()
        guard bytes.isText(object.json) else {
            throw DialectMismatch(.url, "a URL whose query is UTF-8, with % before two hexadecimal digits")
        }
        return object
    }

    private func close(_ object: inout QueryObject) throws(DialectMismatch) {
        guard object.isInPair else { return }
        guard object.endPair() else { throw DialectMismatch(.url, "a URL in whose query no name stands twice") }
        guard object.count <= Self.maximumQueryNames else {
            throw DialectMismatch(.url, "a URL whose query has at most \(Self.maximumQueryNames) names")
        }
    }
}

/// An object of JSON whose values are strings, as it is made of a URL's query.
private struct QueryObject {
    private(set) var json = [UInt8(ascii: "{")]
    /// Where the names of pairs stand in it, as they are written.
    private var names: [Range<Int>] = []
    /// Up to so many names are compared each with all, which costs less than their hashes.
    private static let maximumComparedNames = 8
    /// The hashes of more: only a name whose hash is known is compared. The seed is the process's, which no client knows.
    private var hashes: Set<Int> = []
    /// Where the name at hand begins; nil: between pairs.
    private var start: Int?
    private(set) var isInValue = false

    init() { json.reserveCapacity(256) }

    var isInPair: Bool { start != nil }
    var count: Int { names.count }

    private mutating func beginPair() {
        json.append(names.isEmpty ? UInt8(ascii: "\"") : UInt8(ascii: ","))
        if !names.isEmpty { json.append(UInt8(ascii: "\"")) }
        start = json.count
    }

    mutating func append(_ byte: UInt8) {
        if start == nil { beginPair() }
        if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            var quoted: [UInt8] = []
            withUnsafeBytes(of: byte) { JSONText.appendQuoted(utf8: $0, to: &quoted) }
            json += quoted[1..<(quoted.count - 1)]
        } else {
            json.append(byte)
        }
    }

    /// Appends bytes that stand for themselves in JSON.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start == nil { beginPair() }
        json += bytes
    }

    mutating func beginValue() {
        if start == nil { beginPair() }
        isInValue = true
        names.append((start ?? 0)..<json.count)
        json += #"":""#.utf8
    }

    /// Whether no earlier pair has the name.
    mutating func endPair() -> Bool {
        if !isInValue { beginValue() }
        json.append(UInt8(ascii: "\""))
        isInValue = false
        start = nil
        guard let last = names.last else { return true }
        if names.count > Self.maximumComparedNames {
            if hashes.isEmpty { hashes = Set(names.dropLast().map(hash)) }
            guard !hashes.insert(hash(of: last)).inserted else { return true }
        }
        return !names.dropLast().contains { $0.count == last.count && json[$0].elementsEqual(json[last]) }
    }

    private func hash(of name: Range<Int>) -> Int {
        var hasher = Hasher()
        json.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[name])) }
        return hasher.finalize()
    }

    mutating func end() { json.append(UInt8(ascii: "}")) }

    /// Takes a pair out of an object that has ended.
    ///
    /// - Returns: its value, a JSON string; nil: there is none of that name.
    mutating func takeValue(of name: StaticString) -> [UInt8]? {
        let wanted = UnsafeRawBufferPointer(name)
        guard let index = names.firstIndex(where: { json[$0].elementsEqual(wanted) }) else { return nil }
        // Up to the quote of the next name, or the brace at the end.
        let isLast = index == names.count - 1
        let end = isLast ? json.count - 1 : names[index + 1].lowerBound - 2
        let value = Array(json[(names[index].upperBound + 2)..<end])
        let start = names[index].lowerBound - 1
        // With a comma, where others are left.
        json.removeSubrange(isLast ? max(1, start - 1)..<end : start..<(end + 1))
        return value
    }
}

/// What `%` and two digits stand for in a URL.
private enum PercentEncoding {
    /// The bytes that a part of a URL stands for, one after the other.
    struct Bytes {
        private let part: UnsafeRawBufferPointer
        private var index = 0
        private var isBroken = false
        private var hasEncodedText = false
        /// Whether the last byte stands for itself.
        private(set) var isPlain = true

        init(_ part: Slice<UnsafeRawBufferPointer>) {
            self.part = UnsafeRawBufferPointer(rebasing: part)
        }

        /// The bytes up to the next one that means something in a URL or in JSON.
        mutating func takeOrdinary() -> UnsafeRawBufferPointer {
            let start = index
            while index < part.count, Self.isOrdinary(part[index]) { index += 1 }
            return part.slice(start, index - start)
        }

        private static func isOrdinary(_ byte: UInt8) -> Bool {
            switch byte {
            case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "&"),
                UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                false
            default: true
            }
        }

        /// The next byte; nil at the end, or where % does not stand before two hexadecimal digits.
        mutating func next() -> UInt8? {
            guard index < part.count else { return nil }
            let byte = part[index]
            index += 1
            isPlain = byte != UInt8(ascii: "%")
            guard !isPlain else { return byte }
            guard index + 1 < part.count, let high = PercentEncoding.digit(part[index]),
                let low = PercentEncoding.digit(part[index + 1])
            else {
                isBroken = true
                return nil
            }
            index += 2
            hasEncodedText = hasEncodedText || high > 7
            return high << 4 | low
        }

        /// Whether all of it was good, and what was made of it is UTF-8. The message itself is; what is encoded need
        /// not be.
        func isText(_ made: [UInt8]) -> Bool {
            !isBroken && (!hasEncodedText || String(validating: made, as: UTF8.self) != nil)
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
