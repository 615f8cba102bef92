import HTTPRules
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite(
    "Headers about the page", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct PageStageTests {
    private static let names = ["Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"]

    @Test("A page's requests have these headers, and a program's requests do not")
    func fields() async throws {
        let server = try ScriptedServer(["*": Script.response("")])
        let bridge = try await TestBridge.start(
            .fetch(), Plugin("door", version: "1.0.0") { Door() }, configuration: ["fetch": Fetching.open])
        let own = "http://127.0.0.1:\(server.port)"
        for (origin, method, expected) in [
            (own, "GET", [nil, "\(own)/", "same-origin", "cors", "empty"]),
            (own, "POST", [own, "\(own)/", "same-origin", "cors", "empty"]),
            ("http://127.0.0.1:1", "GET", ["http://127.0.0.1:1", "http://127.0.0.1:1/", "same-site", "cors", "empty"]),
        ] as [(String, String, [String?])] {
            let page = await bridge.session(origin: origin)
            try await page.call("door.fetch", ["url": server.url("/"), "method": .string(method)])
            let local = await bridge.session()
            let seen = try await local.call("http.fetch", ["url": server.url("/_seen")])["body"]?["json"]?.arrayValue
            #expect(Self.names.map { Fetching.header($0, of: seen?.last) } == expected)
        }
        let local = await bridge.session()
        try await local.call("http.fetch", ["url": server.url("/program")])
        let seen = try await local.call("http.fetch", ["url": server.url("/_seen")])["body"]?["json"]?.arrayValue
        #expect(Self.names.allSatisfy { Fetching.header($0, of: seen?.last) == nil })
        await bridge.stop()
    }

    @Test(
        "A page's site is computed from its host's A-labels, whatever the spelling of its origin",
        arguments: ["https://app.bücher.example", "https://app.BÜCHER.example", "https://app.xn--bcher-kva.example"])
    func international(origin: String) throws {
        let caller = Caller(session: 1, uid: 1, gid: 1, pid: 1, origin: origin)
        let suffixes = PublicSuffixList()
        let reach = Reach(caller, suffixes)
        #expect(reach.pageOrigin?.text == "https://app.xn--bcher-kva.example")
        #expect(reach.pageSite == "https://xn--bcher-kva.example")
        #expect(try reach.isOwnSite(WebURL("https://api.bücher.example/")))
        #expect(try !reach.isOwnSite(WebURL("https://bucher.example/")))
        #expect(CachePartition.site(of: origin, suffixes) == "https://xn--bcher-kva.example")
    }

    @Test("Redirects keep the most distant site relation, and hide the page's origin from a third origin")
    func trail() throws {
        let reach = Reach(
            Caller(session: 1, uid: 1, gid: 1, pid: 1, origin: "https://app.example.org"), PublicSuffixList())
        let page = try WebOrigin("https://app.example.org")
        var trail = PageTrail()
        for (origin, relation, isTainted) in [
            ("https://app.example.org", .sameOrigin, false), ("https://api.example.org", .sameSite, false),
            ("https://app.example.org", .sameSite, true),
        ] as [(String, SiteRelation, Bool)] {
            trail.step(to: try WebOrigin(origin), from: page, reach)
            #expect(trail.relation == relation && trail.isTainted == isTainted, "\(origin)")
        }
        var other = PageTrail()
        for (origin, relation, isTainted) in [
            ("https://other.example", .crossSite, false), ("https://other.example", .crossSite, false),
            ("https://third.example", .crossSite, true),
        ] as [(String, SiteRelation, Bool)] {
            other.step(to: try WebOrigin(origin), from: page, reach)
            #expect(other.relation == relation && other.isTainted == isTainted, "\(origin)")
        }
    }
}
