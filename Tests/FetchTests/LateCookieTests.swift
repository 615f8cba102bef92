import CookiesTasks
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite(
    "Cookies that arrive after the call has ended", .timeLimit(.minutes(20)),
    .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct LateCookieTests {
    private static func page(_ body: String, _ more: String = "") -> [JSON] {
        let headers = "Cache-Control: max-age=60, stale-while-revalidate=6000\r\nContent-Type: text/plain\r\n"
        return Script.response(body, headers: headers + more).arrayValue ?? []
    }

    @Test("of a background validation are stored before the caller's next request")
    func validation() async throws {
        let validated = [["wait": "/go"]] + Self.page("new", "Set-Cookie: a=late\r\n")
        let server = try ScriptedServer([
            "/": [["turns": [.array(Self.page("old")), .array(validated)]]], "*": Script.response(""),
        ])
        let clock = CacheClock()
        let bridge = try await TestBridge.start(
            .cookies(), .fetch(FetchService(now: { clock.now })), configuration: ["fetch": Fetching.open],
            daemonUID: 1000)
        let (session, stranger) = (await bridge.session(uid: 1000), await bridge.session(uid: 0))
        try await session.call("http.fetch", ["url": server.url("/")])
        clock.advance(100)
        let stale = try await session.call("http.fetch", ["url": server.url("/")])
        #expect(stale["body"]?["text"] == "old" && stale["cache"]?["state"] == "stale")
        // The call has ended. The server answers the validation now.
        try await session.call("http.fetch", ["url": server.url("/go"), "credentials": "omit"])
        var text: JSON?
        while text != "new" {
            let stored = try await session.call("http.fetch", ["url": server.url("/"), "cache": "only-if-cached"])
            text = stored["body"]?["text"]
        }
        try await stranger.call("http.fetch", ["url": server.url("/other")])
        try await session.call("http.fetch", ["url": server.url("/after")])
        try await session.call("http.fetch", ["url": server.url("/again")])
        let seen = try await session.call("http.fetch", ["url": server.url("/_seen"), "credentials": "omit"])
        let sent = (seen["body"]?["json"]?.arrayValue ?? []).suffix(3).map { Fetching.header("Cookie", of: $0) }
        #expect(sent == [nil, "a=late", "a=late"])
        await bridge.stop()
    }

    private static func caller(_ uid: UInt32, _ origin: String = "local") -> Caller {
        Caller(session: 1, uid: uid, gid: 1, pid: 1, origin: origin)
    }

    @Test("are returned once, in order, to the same user and origin, and not after ten minutes")
    func owners() {
        let (late, now) = (LateCookies(), ContinuousClock.now)
        late.add(["a": 1], of: Self.caller(1), at: now)
        late.add(["a": 2], of: Self.caller(1), at: now)
        #expect(late.take(of: Self.caller(2), at: now) == [])
        #expect(late.take(of: Self.caller(1, "https://a.example"), at: now) == [])
        #expect(late.take(of: Self.caller(1), at: now) == [["a": 1], ["a": 2]])
        #expect(late.take(of: Self.caller(1), at: now) == [])
        late.add(["a": 3], of: Self.caller(1), at: now)
        #expect(late.take(of: Self.caller(1), at: now + .seconds(601)) == [])
        late.add(["a": 4], of: Self.caller(1), at: now)
        late.removeAll(of: 1)
        #expect(late.take(of: Self.caller(1), at: now) == [])
    }

    @Test("are limited in size for each user; the oldest are removed, other users' are kept")
    func bound() {
        let (late, now) = (LateCookies(), ContinuousClock.now)
        let long = JSON.string(String(repeating: "a", count: 30_000))
        late.add("other", of: Self.caller(2), at: now)
        for number in 0..<5 { late.add([long, .number(JSONNumber(number))], of: Self.caller(1), at: now) }
        late.add(.string(String(repeating: "a", count: 70_000)), of: Self.caller(1), at: now)
        #expect(late.take(of: Self.caller(1), at: now) == [[long, 3], [long, 4]])
        #expect(late.take(of: Self.caller(2), at: now) == ["other"])
    }
}
