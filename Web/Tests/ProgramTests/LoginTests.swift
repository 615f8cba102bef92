import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Pages and the login of the daemon", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct LoginTests {
    /// Opens another page and marks its document.
    private func openMarked(_ run: WebRun, _ uri: String) async throws -> Int {
        let opened = try await run.bridge.call(
            "web.open", ["uri": .string(uri), "wait": "finished"] as JSON, as: JSON.self)
        let view = Int(opened["view"]?.int64Value ?? 0)
        _ = try await run.evaluate("globalThis.mark = 1", view: view)
        return view
    }

    @Test("login state after login: pages of the listed origins are reloaded, except the page that logged in")
    func reload() async throws {
        let rules = { (origins: [String]) in
            "[[rule]]\nallow = \"call\"\nnames = [\"login\", \"logout\"]\norigin = \"\(origins[0])\"\n"
        }
        try await WebRun.with(rules: rules, plugins: ["Login"]) { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            for user in ["ada", "bob"] {
                _ = try await run.bridge.call(
                    "login.users.add", ["user": .string(user), "password": "secret"] as JSON, as: JSON.self)
            }
            try await run.startPage(
                profile: "allow = [\"\(other)\"]\n[storage]\nreload_on_login = [\"\(origin)\"]\n")
            try run.server.serve("plain.html", script: "")
            let unlisted = try await openMarked(run, "\(other)/plain.html")
            _ = try await openMarked(run, "\(origin)/page.html")
            _ = try await run.report()
            let answer = try await run.evaluate(
                """
                globalThis.mark = 1;
                return await WebBridge.call("login", { user: "ada", password: "secret" }).then((it) => it.user);
                """, view: 1)
            #expect(answer == "ada")
            // One page is reloaded. Its report arrives after the other pages were handled.
            #expect(try await run.report() == Report(origin: origin, value: "loaded"))
            for view in [1, unlisted] { #expect(try await run.evaluate("return mark", view: view) == 1, "\(view)") }
            // Another user logs in elsewhere, after the pause.
            _ = try await run.bridge.call(
                "login", ["user": "bob", "password": "secret"] as JSON, as: JSON.self)
            for _ in 1...2 { #expect(try await run.report().value == "loaded") }
            #expect(try await run.evaluate("return mark", view: unlisted) == 1)
        }
    }

    @Test("trestle-web reports that a rule denies it login events, and still provides its tasks")
    func denied() async throws {
        let rules = { (_: [String]) in "[[rule]]\ndeny = \"subscribe\"\nnames = \"login.changed\"\n" }
        try await WebRun.with(rules: rules, plugins: ["Login"]) { run in
            try await run.startPage(profile: "[storage]\nreload_on_login = [\"\(run.server.origins[0])\"]\n")
            #expect(run.errors.contains("trestle-web: storage.reload_on_login: login events are not received: "))
        }
    }
}
