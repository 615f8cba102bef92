import CookiesTasks
import DurableDatabase
import Synchronization
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

private final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
}

/// Replaces the plugin Cookies and counts its calls.
private struct CountedTake: BridgeTask {
    static let name = "cookies.take"
    static let summary = "Answers that there are no cookies."

    let count: Counter

    func run(_ options: JSON, _ call: Call) async throws -> JSON {
        count.add()
        return ["header": "", "cookieless": true]
    }
}

@Suite(
    "Hosts without cookies", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct CookielessTests {
    private func withBridge(
        _ cookies: Plugin, _ body: (TestBridge, ScriptedServer, TestSession) async throws -> Void
    ) async throws {
        let script: JSON = [
            "/get": Script.response("ok"), "/set": Script.response("ok", headers: "Set-Cookie: a=1\r\n"),
        ]
        let server = try ScriptedServer(script)
        let bridge = try await TestBridge.start(
            cookies, .fetch(), configuration: ["fetch": ["private_networks": ["127.0.0.0/8", "::1/128"]]],
            daemonUID: 1000)
        do { try await body(bridge, server, await bridge.session()) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    private func fetch(
        _ url: JSON, _ session: TestSession, profile: JSON = "default"
    ) async throws { try await session.call("http.fetch", ["url": url, "cache": "no-store", "profile": profile]) }

    /// Returns the `Cookie` header of each request for `/get`.
    private func cookies(_ server: ScriptedServer, _ session: TestSession) async throws -> [String?] {
        let result = try await session.call("http.fetch", ["url": server.url("/_seen"), "credentials": "omit"])
        return (result["body"]?["json"]?.arrayValue ?? [])
            .filter { $0["line"]?.stringValue?.contains(" /get ") == true }
            .map { Fetching.header("Cookie", of: $0) }
    }

    @Test("Calls cookies.take once for each user, profile and host, and again after a change")
    func asked() async throws {
        let take = CountedTake(count: Counter())
        try await withBridge(Plugin("cookies", version: "1.0.0") { take }) { bridge, server, session in
            let mark = ChangeMark(of: bridge.stateDirectory + "/cookies.sqlite")
            func count() -> Int { take.count.value }
            for _ in 0..<3 { try await fetch(server.url("/get"), session) }
            #expect(count() == 3, "without a mark nothing is kept in mind")
            try mark.change()
            for _ in 0..<3 { try await fetch(server.url("/get"), session) }
            #expect(count() == 4)
            for _ in 0..<2 { try await fetch(server.url("/get", host: "localhost"), session) }
            for _ in 0..<2 { try await fetch(server.url("/get"), session, profile: "work") }
            #expect(count() == 6)
            let root = await bridge.session(uid: 0)
            for _ in 0..<2 { try await fetch(server.url("/get"), root) }
            #expect(count() == 7)
            try mark.change()
            for _ in 0..<2 { try await fetch(server.url("/get"), session) }
            #expect(count() == 8)
        }
    }

    @Test("Calls cookies.take for each request of a private profile, which ends with its last session")
    func privateProfile() async throws {
        let take = CountedTake(count: Counter())
        try await withBridge(Plugin("cookies", version: "1.0.0") { take }) { bridge, server, session in
            try ChangeMark(of: bridge.stateDirectory + "/cookies.sqlite").change()
            for _ in 0..<2 { try await fetch(server.url("/get"), session, profile: "private:1") }
            #expect(take.count.value == 2)
        }
    }

    @Test("Sends a new cookie with the next request, even if the host had no cookies before")
    func later() async throws {
        try await withBridge(.cookies()) { _, server, session in
            for _ in 0..<2 { try await fetch(server.url("/get"), session) }
            try await session.call("cookies.set", ["url": server.url("/"), "line": "b=2"])
            try await fetch(server.url("/get"), session)
            try await session.call("cookies.delete", ["url": server.url("/"), "name": "b"])
            for _ in 0..<2 { try await fetch(server.url("/get"), session) }
            try await fetch(server.url("/set"), session)
            try await fetch(server.url("/get"), session)
            #expect(try await cookies(server, session) == [nil, nil, "b=2", nil, nil, "a=1"])
        }
    }

    @Test("The table remembers up to its maximum of hosts, then starts again")
    func bounded() throws {
        let hosts = CookielessHosts()
        func place(_ number: Int) -> CookielessHosts.Place {
            .init(uid: 1, profile: "default", host: "\(number).example")
        }
        for number in 0..<CookielessHosts.maximum { hosts.note(place(number), at: 1) }
        #expect(hosts.contains(place(0), at: 1))
        #expect(!hosts.contains(place(0), at: 2))
        #expect(!hosts.contains(place(0), at: nil))
        hosts.note(place(-1), at: 1)
        #expect(hosts.contains(place(-1), at: 1))
        #expect(!hosts.contains(place(0), at: 1))
    }
}
