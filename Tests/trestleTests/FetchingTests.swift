import ArgumentParser
import BridgeJSON
import Testing

@testable import trestle

@Suite("Requests and responses of trestle fetch")
struct FetchingTests {
    private func options(_ arguments: String..., asksForHead: Bool = false) throws -> JSON {
        .object(try FetchRequestOptions.parse(arguments).options("http://a/", asksForHead: asksForHead))
    }

    @Test("A request contains only the options that were given")
    func plain() throws {
        #expect(try options() == ["url": "http://a/", "respond": "headers", "as": "stream"])
        #expect(
            try options(asksForHead: true)
                == ["url": "http://a/", "respond": "headers", "as": "none", "method": "HEAD"])
    }

    @Test("Every flag becomes an option of http.fetch")
    func flags() throws {
        let all = try options("-X", "PUT", "-H", "a: b", "--policy", "reload", "--no-follow", "--max-bytes", "5")
        #expect(all["method"] == "PUT" && all["headers"] == [["a", "b"]] && all["cache"] == "reload")
        #expect(all["redirect"] == "manual" && all["maxBytes"] == 5)
        #expect(try options("--offline")["cache"] == "only-if-cached")
    }

    @Test("A body from a file is a stream, other data is text as typed; the method is POST")
    func bodies() throws {
        #expect(try options("--data", "x")["body"] == ["text": "x"])
        #expect(try options("--data", "x")["method"] == "POST")
        #expect(try options("--data", "@-")["body"] == ["stream": "@-"])
        let json = try options("--data-json", "{\"a\":  1.0}")["body"]
        #expect(json == ["text": "{\"a\":  1.0}", "type": "application/json"])
        #expect(try options("--form", "a=b=c")["body"] == ["form": ["a": "b=c"]])
    }

    private static let result: JSON = [
        "status": 200, "reason": "OK", "protocol": "h2", "from": "cache", "cache": ["state": "stale", "age": 12],
        "redirects": [["status": 301, "url": "http://a/"]], "headers": [["X", "a\u{1B}"]],
        "body": ["stream": "stream:1"],
    ]

    @Test("The head of a response shows redirects, status, headers and the source")
    func head() {
        let response = FetchedResponse(Self.result)
        #expect(
            response.text(colour: false) == """
                301 http://a/
                h2 200 OK
                X: a\u{FFFD}
                (from cache, stale, 12 s old)


                """)
        #expect(response.text(colour: true).contains("\u{1B}[32;1m200 OK\u{1B}[0m"))
        #expect(response.text(colour: true).contains("\u{1B}[33mstale\u{1B}[0m"))
        #expect(response.head["body"] == nil && response.stream == "stream:1" && !response.isFailure)
    }

    @Test("A response without optional members is shown")
    func sparse() {
        let response = FetchedResponse(["status": 500])
        #expect(response.text(colour: false) == "500\n(from ?)\n\n")
        #expect(response.isFailure && response.stream == nil && response.statusText == "500")
    }

    @Test(
        "An incomplete character at the end is held back",
        arguments: [
            ("", 0), ("a", 1), ("é", 2), ("€", 3), ("😀", 4), ("aé", 3),
        ])
    func characters(text: String, count: Int) {
        let bytes = Array(text.utf8)
        #expect(TerminalBody.wholeCharacters(bytes) == count)
        guard let last = text.last else { return }
        let start = bytes.count - String(last).utf8.count
        for cut in start..<bytes.count { #expect(TerminalBody.wholeCharacters(Array(bytes[..<cut])) == start) }
    }

    @Test("Invalid bytes are not held back")
    func noCharacters() {
        for bytes in [[0x80], [0x80, 0x80, 0x80, 0x80], [0xC3, 0xA9, 0x80, 0x80, 0x80], [0xFF, 0x41]] as [[UInt8]] {
            #expect(TerminalBody.wholeCharacters(bytes) == bytes.count)
        }
    }
}
