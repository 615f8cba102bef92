import Caching
import Filtering
import Foundation
import HTTPMocking
import HTTPRedirecting
import Mocking
import Redirecting
import Synchronization
import TaskKit
import TaskKitTesting
import Testing

/// A task that these tests intercept.
private struct Count: ImmediateTask {
    static let name = "count"
    static let summary = "Counts its calls."
    // Pages may call it, too.
    static let settings = TaskSettings(isPublic: true)
    struct Options: Codable, Sendable { var step: Int? }
    struct Result: Codable, Sendable { var count: Int }

    let calls = Counting()

    func run(_ options: Options, _ call: Call) throws -> Result { Result(count: calls.add(options.step ?? 1)) }
}

private final class Counting: Sendable {
    private let sum = Mutex(0)

    func add(_ step: Int) -> Int {
        sum.withLock { sum in
            sum += step
            return sum
        }
    }
}

private struct Say: ImmediateTask {
    static let name = "say"
    static let summary = "Says what it was asked to."
    struct Options: Codable, Sendable { var word: String }

    func run(_ options: Options, _ call: Call) throws -> String { options.word }
}

private func tasks() -> Plugin {
    Plugin("tasks", version: "1.0.0") {
        Count()
        Say()
    }
}

@Suite("The interceptors")
struct InterceptorsTests {
    @Test("pass their own checks")
    func conform() throws {
        for plugin in [makeMock(), makeRedirect(), makeFilter(), makeCache(), makeHTTPMock(), makeHTTPRedirect()] {
            try plugin.check()
        }
    }

    // MARK: HTTP requests

    /// Starts a bridge on which a client answers the requests that no interceptor answers.
    private func withLoader(
        _ plugin: Plugin, _ section: JSON, _ body: (TestSession) async throws -> Void
    ) async throws {
        let bridge = try await TestBridge.start(plugin, configuration: [plugin.name: section])
        let session = await bridge.session()
        try await session.provide("http.load") { options in ["status": 200, "url": options["url"] ?? .null] }
        try await body(session)
        await bridge.stop()
    }

    @Test("httpmock answers the requests that its file contains, by URL and method, and passes on the others")
    func httpMock() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try """
        [{"url": "https://a.example/x", "method": "GET", "response": {"status": 201, "body": {"text": "x"}}},
         {"url": "https://a.example/*", "response": {"status": 404, "from": "nowhere"}}]
        """.write(to: file, atomically: true, encoding: .utf8)
        try await withLoader(makeHTTPMock(), ["file": .string(file.path)]) { session in
            let answer = try await session.call("http.load", ["url": "https://a.example/x", "method": "GET"])
            #expect(answer == ["status": 201, "body": ["text": "x"], "from": "httpmock"])
            let other = try await session.call("http.load", ["url": "https://a.example/x", "method": "POST"])
            #expect(other == ["status": 404, "from": "nowhere"])
            let passed = try await session.call("http.load", ["url": "https://b.example/x", "method": "GET"])
            #expect(passed["url"] == "https://b.example/x")
        }
    }

    @Test("httpredirect redirects requests for a site to another one, with the same path and query")
    func httpRedirect() async throws {
        let sites: JSON = ["sites": ["https://old.example": "https://new.example"]]
        try await withLoader(makeHTTPRedirect(), sites) { session in
            let answer = try await session.call("http.load", ["url": "https://old.example/a?b=c"])
            #expect(answer["status"] == 307 && answer["headers"] == [["Location", "https://new.example/a?b=c"]])
            for url: JSON in ["https://new.example/a", "https://old.example.evil.example/a", "http://old.example/a"] {
                #expect(try await session.call("http.load", ["url": url])["url"] == url)
            }
        }
    }

    // MARK: mock

    @Test("mock answers with the results and errors of its file, and passes on other calls")
    func mock() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try """
        {"say": [
            {"options": {"word": "hello"}, "result": "mocked"},
            {"options": {"word": "bad"}, "error": {"code": "say.rude", "message": "One does not say that."}}
        ]}
        """.write(to: file, atomically: true, encoding: .utf8)
        let bridge = try await TestBridge.start(
            tasks(), makeMock(), configuration: ["mock": ["file": .string(file.path)]])
        let client = await bridge.session()
        #expect(try await client.call("say", ["word": "hello"]) == "mocked")
        #expect(try await client.call("say", ["word": "other"]) == "other")
        let error = await #expect(throws: BridgeError.self) { try await client.call("say", ["word": "bad"]) }
        #expect(error?.code == "say.rude")
        #expect(try await client.call("count") == ["count": 1])
        await bridge.stop()
    }

    @Test("mock does not start if its file cannot be read")
    func mockWithoutFile() async throws {
        await #expect(throws: BridgeError.self) {
            try await TestBridge.start(makeMock(), configuration: ["mock": ["file": "/nowhere/answers.json"]])
        }
    }

    // MARK: cache

    /// A clock that stops until it is advanced.
    private final class TestClock: Sendable {
        private let time = Mutex(ContinuousClock.now)

        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    @Test("cache repeats a result until it expires or is forgotten")
    func cache() async throws {
        let clock = TestClock()
        let bridge = try await TestBridge.start(
            tasks(), makeCache(now: { clock.now }), configuration: ["cache": ["tasks": ["count"], "seconds": 10]])
        let client = await bridge.session()
        for _ in 0..<3 { #expect(try await client.call("count", ["step": 1]) == ["count": 1]) }
        #expect(try await client.call("count", ["step": 2]) == ["count": 3])
        clock.advance(.seconds(10))
        #expect(try await client.call("count", ["step": 1]) == ["count": 4])
        #expect(try await client.call("cache.forget") == ["forgotten": 2])
        #expect(try await client.call("count", ["step": 1]) == ["count": 5])
        await bridge.stop()
    }

    @Test("cache stores no more than its maximum, stores no errors, and separates the results of callers")
    func cacheBounds() async throws {
        let bridge = try await TestBridge.start(
            tasks(), makeCache(), configuration: ["cache": ["tasks": ["*"], "entries": 1]])
        let client = await bridge.session()
        #expect(try await client.call("count") == ["count": 1])
        #expect(try await client.call("say", ["word": "a"]) == "a")
        #expect(try await client.call("count") == ["count": 2])
        #expect(try await client.call("count") == ["count": 2])
        let page = await bridge.session(origin: "https://example.org")
        #expect(try await page.call("count") == ["count": 3])
        for _ in 0..<2 {
            let error = await #expect(throws: BridgeError.self) { try await client.call("say", ["word": 7]) }
            #expect(error?.code == .optionsInvalid)
        }
        await bridge.stop()
    }

    @Test(
        "cache refuses an invalid section",
        arguments: [["seconds": 0], ["entries": 0], ["second": 1]] as [JSON])
    func cacheSection(section: JSON) async throws {
        let error = await #expect(throws: BridgeError.self) {
            try await TestBridge.start(makeCache(), configuration: ["cache": section])
        }
        #expect(error?.code == .configurationInvalid)
    }

    // MARK: redirect

    @Test("redirect sends calls of one task to another")
    func redirect() async throws {
        let bridge = try await TestBridge.start(
            tasks(), makeRedirect(), configuration: ["redirect": ["tasks": ["announce": "say"]]])
        let old = await bridge.session()
        try await old.provide("announce") { _ in "the old way" }
        let client = await bridge.session()
        #expect(try await client.call("announce", ["word": "new"]) == "new")
        await bridge.stop()
    }

    // MARK: filter

    @Test("filter refuses the calls that a rule forbids, and no others")
    func filter() async throws {
        let rules: JSON = [
            ["task": "say", "longerThan": 20, "reason": "Too many words."],
            ["task": "cou*", "origin": "https://example.org"],
        ]
        let bridge = try await TestBridge.start(tasks(), makeFilter(), configuration: ["filter": ["rules": rules]])
        let client = await bridge.session()
        let page = await bridge.session(origin: "https://example.org")
        #expect(try await client.call("say", ["word": "short"]) == "short")
        #expect(try await client.call("count") == ["count": 1])
        var error = await #expect(throws: BridgeError.self) {
            try await client.call("say", ["word": "much too long to be said"])
        }
        #expect(error == BridgeError("filter.refused", "Too many words."))
        error = await #expect(throws: BridgeError.self) { try await page.call("count") }
        #expect(error == BridgeError("filter.refused", "The operator does not allow this."))
        await bridge.stop()
    }

    @Test("filter refuses a rule with an invalid task name")
    func filterSection() async throws {
        let error = await #expect(throws: BridgeError.self) {
            try await TestBridge.start(makeFilter(), configuration: ["filter": ["rules": [["task": "a*b"]]]])
        }
        #expect(error?.data?["path"] == "$.rules[0].task")
    }
}
