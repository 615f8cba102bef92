import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Responses that are not shown", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct ResponseTests {
    private static let profile = """
        [navigation]
        responses = ["application/pdf", "image/*", "404", "5xx"]
        [downloads]
        folder = "/nonexistent"
        [tasks]
        events = ["web.navigation.denied", "web.download.*"]
        """

    @Test("decide about a response: types and statuses of the profile are not shown, in any spelling")
    func denied() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage(profile: Self.profile)
            _ = try await run.evaluate("globalThis.mark = 1")
            var denials = try await run.bridge.subscribe(to: "web.navigation.denied").makeAsyncIterator()
            for path in [
                "typed?application/pdf", "typed?Application/PDF; a=b", "typed?image/svg%2Bxml", "typed?image/unknown",
                // Without a type, the engine inspects the first bytes.
                "typed?", "status?404", "status?500", "status?599", "redirect?\(origin)/status?503",
            ] {
                let uri = "\(origin)/\(path)".replacing(" ", with: "%20")
                await run.expect("web.navigate", ["uri": .string(uri)], "navigation.denied")
                let denial = try await denials.next()?.data ?? JSON.null
                #expect(denial["rule"] == "navigation.responses" && denial["view"] == 1, "\(path)")
            }
            #expect(try await run.evaluate("return mark") == 1)
            for path in ["status?200", "status?403"] {
                _ = try await run.navigate("\(origin)/\(path)", finished: true)
                #expect(try await run.evaluate("return document.title") == "status", "\(path)")
            }
        }
    }

    @Test("such a document is not shown in a frame either, and its page continues")
    func frames() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage(profile: Self.profile)
            var denials = try await run.bridge.subscribe(to: "web.navigation.denied").makeAsyncIterator()
            try run.server.serve("frame.html", script: "", body: "<iframe src='status?500'></iframe>")
            _ = try await run.navigate("\(origin)/frame.html", finished: true)
            #expect(try await run.evaluate("return document.title") == "frame.html")
            #expect(try await denials.next()?.data["uri"]?.stringValue == "\(origin)/status?500")
            #expect(try await run.evaluate("return frames[0].document.title") != "status")
        }
    }
}
