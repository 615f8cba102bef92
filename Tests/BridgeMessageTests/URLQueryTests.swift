import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@Suite("A URL's query")
struct URLQueryTests {
    @Test(
        "is decoded as application/x-www-form-urlencoded, whatever it contains", arguments: 0..<400 as Range<UInt64>)
    func meaning(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let query = Self.query(&generator)
            let line = try #require(String(validating: Self.line(query), as: UTF8.self))
            let read = Self.read(line)
            guard let expected = Self.reference(query) else {
                #expect(read == nil, "\(line)")
                continue
            }
            #expect(read == expected, "\(line)")
        }
    }

    @Test("has no name twice, in any spelling")
    func twins() {
        #expect(Self.read(Self.message("a=1&b=2&c=3"))?.count == 3)
        for query in ["a=1&a=2", "a&a", "a=1&b=2&%61=3", "=1&=2", "x=1&a%20b=&a+b=", "%22=1&%22=2"] {
            #expect(Self.read(Self.message(query)) == nil, "\(query)")
        }
    }

    @Test("has names that are compared by their bytes: é in its two forms is two names")
    func forms() {
        let options = Self.call(Self.message("%C3%A9=1&e%CC%81=2"))?.options
        #expect(options == Array("{\"\u{e9}\":\"1\",\"e\u{301}\":\"2\"}".utf8))
    }

    @Test("has at most 1,024 names")
    func names() {
        let query = { (count: Int) in (0..<count).map { "n\($0)=\($0)" }.joined(separator: "&") }
        #expect(Self.read(Self.message(query(1024)))?.count == 1024)
        #expect(Self.read(Self.message(query(1025))) == nil)
    }

    @Test("belongs to a URL of at most 65,536 bytes, whichever part is long")
    func length() {
        let query = "jxaction://scan?a="
        let rest = String(repeating: "x", count: 65_536 - query.utf8.count)
        #expect(Self.call(#"{"url":"\#(query + rest)"}"#) != nil)
        #expect(Self.call(#"{"url":"\#(query + rest)x"}"#) == nil)
        #expect(Self.call(#"{"url":"jxaction://scan#\#(rest)xxx"}"#) == nil)
        #expect(Self.call(#"{"url":"jxaction://\#(rest)xxxxxxxx"}"#) == nil)
    }

    @Test("takes linear time for many names of one length")
    func price() {
        let prefix = String(repeating: "x", count: 55)
        func time(_ count: Int) -> Double {
            let message = Self.message((1...count).map { "\(prefix)\(10_000 + $0)" }.joined(separator: "&"))
            return cpuTime { _ = Self.call(message) }
        }
        #expect(time(1024) / time(128) < 16)
        #expect(Self.read(Self.message("\(prefix)a&\(prefix)b&\(prefix)a")) == nil)
    }

    @Test("is read with any letter case of the scheme and any slashes in the path")
    func paths() {
        for url in [
            "jxaction://scan/it?a=1", "JXAction://scan/it?a=1", "jxaction:scan/it?a=1", "jxaction:///scan//it/?a=1",
            "jxaction://s%63an/it?a=1#top?b=2",
        ] { #expect(Self.call(#"{"url":"\#(url)"}"#)?.task == "scan.it", "\(url)") }
        for url in ["jxaction://?a=1", "jxaction:////", "jxaction://a%0/b", "jxaction://a%00b", "other://scan"] {
            #expect(Self.call(#"{"url":"\#(url)"}"#) == nil, "\(url)")
        }
    }

    @Test("belongs to a URL that names a task in valid UTF-8")
    func taskNames() {
        #expect(Self.call(#"{"url":"jxaction://scan/%E5%BC%B9"}"#)?.task == "scan.弹")
        for path in ["%BC%B9", "scan/%ff", "é%a9", "%E5/%BC%B9", "%ED%A0%80"] {
            #expect(Self.call(#"{"url":"jxaction://\#(path)"}"#) == nil, "\(path)")
        }
    }

    // MARK: Reference implementation

    /// Returns the pairs; `nil` if the query is invalid or contains a name twice.
    private static func reference(_ query: [UInt8]) -> [String: String]? {
        var pairs: [String: String] = [:]
        let whole = query.prefix { $0 != UInt8(ascii: "#") }
        for pair in whole.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = text(parts[0]), let value = text(parts.count > 1 ? parts[1] : []), pairs[name] == nil
            else { return nil }
            pairs[name] = value
        }
        return pairs
    }

    private static func text(_ part: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let decoded = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    // MARK: Lines

    /// Returns a query of up to seventy bytes, mostly plain, whose runs cross the blocks in which they are copied.
    private static func query(_ generator: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "a", "b", "cd", "plain", "0123456789abcdef", "name", "=", "=", "&", "&", "+", "%20", "%41", "%22", "%5C",
            "%0a",
            "%e5%bc%b9", "%ff", "%C3", "é", "弹", "%", "%4", "%zz", "\"", "\\", "\u{1}", "/", "?",
        ]
        var query: [UInt8] = []
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            query += (pieces.randomElement(using: &generator) ?? "").utf8
        }
        return query
    }

    private static func line(_ query: [UInt8]) -> [UInt8] {
        Array(#"{"url":"#.utf8) + JSON.string("jxaction://task?" + String(decoding: query, as: UTF8.self)).bytes
            + Array("}".utf8)
    }

    private static func message(_ query: String) -> String { #"{"url":"jxaction://task?\#(query)"}"# }

    /// Returns the options of the call in a line; `nil` if the line is not a call.
    private static func read(_ line: String) -> [String: String]? {
        guard let options = call(line)?.options, let object = try? JSON(parsing: options).objectValue else {
            return nil
        }
        return Dictionary(uniqueKeysWithValues: object.map { ($0.key, $0.value.stringValue ?? "no string") })
    }

    private static func call(_ line: String) -> (task: String, options: [UInt8])? {
        let decoder = MessageDecoder(urlSchemes: ["jxaction"])
        var found: (String, [UInt8])?
        withPadding(Array(line.utf8)) { bytes in
            _ = decoder.decode(.line(bytes)) { item in
                if case .call(let call) = item {
                    found = (String(decoding: call.pointee.task, as: UTF8.self), Array(call.pointee.options))
                }
                return true
            }
        }
        return found
    }
}
