import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Data that the engine stores for sites", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct DataTests {
    @Test("cache policy, clear by type, host, date: web.data.records and web.data.remove")
    func data() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            // The network process has the cookie once it has answered a later request.
            _ = try await run.evaluate("document.cookie = 'a=1; max-age=1000'; await fetch(location.href);")
            let records = try await run.bridge.call(
                "web.data.records", ["types": ["cookies"]] as JSON, as: JSON.self)
            #expect(records["records"]?.arrayValue?.contains { $0["name"] == "127.0.0.1" } == true)
            _ = try await run.bridge.call(
                "web.data.remove", ["types": ["cookies"], "names": ["127.0.0.1"]] as JSON, as: JSON.self)
            #expect(try await run.evaluate("return document.cookie") == "")
            for options in [
                ["names": ["x"], "within": 1], ["names": ["x"], "since": 1], ["within": 1, "since": 1],
                ["origins": ["https://notes.example"]], ["types": ["local-storage"]],
            ] as [JSON] {
                await run.expect("web.data.remove", options, "options.invalid")
            }
        }
    }

    @Test("clear by type, host, date as the daemon asks: all types of data.records, its profile and a time")
    func dataForDaemon() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            _ = try await run.evaluate("localStorage.setItem('a', '1'); await fetch(location.href);")
            let types: JSON = [
                "fetchCache", "sessionStorage", "localStorage", "indexedDB", "serviceWorkers", "webSQL",
            ]
            func sites(_ types: JSON, _ profile: JSON) async throws -> [JSON] {
                let answer = try await run.bridge.call(
                    "web.data.records", ["types": types, "profile": profile], as: JSON.self)
                return answer["records"]?.arrayValue ?? []
            }
            // The network process stores items after a pause.
            while try await !sites(types, "default").contains(["name": "127.0.0.1", "types": ["localStorage"]]) {}
            #expect(try await sites(types, "work").isEmpty)
            #expect(try await sites(["webSQL"], "default").isEmpty)
            let remove: (JSON, JSON) -> JSON = { ["types": types, "profile": $0, "since": $1] }
            for options in [remove("work", 0), remove("default", 4_000_000_000)] {
                _ = try await run.bridge.call("web.data.remove", options, as: JSON.self)
            }
            #expect(try await sites(["localStorage"], "default").count == 1)
            _ = try await run.bridge.call("web.data.remove", remove("default", 0), as: JSON.self)
            #expect(try await sites(["localStorage"], "default").isEmpty)
        }
    }
}
