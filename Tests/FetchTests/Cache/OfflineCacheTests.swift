import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite(
    "The cache while a user is offline", .timeLimit(.minutes(20)),
    .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct OfflineCacheTests {
    @Test("A stored response of any age is used, even if it requires revalidation")
    func stale() async throws {
        for directives in ["max-age=60", "no-cache", "max-age=60, must-revalidate"] {
            let headers = "Cache-Control: \(directives)\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n"
            try await CachingBridge.with(["/": Script.response("old", headers: headers)]) { stage, server in
                let url = server.url("/")
                try await stage.fetch(url)
                stage.clock.advance(86_400)
                let session = await stage.bridge.session(uid: 1000)
                try await session.call("http.offline", ["on": true])
                let result = try await stage.fetch(url)
                #expect(result["from"] == "cache" && result["body"]?["text"] == "old", "\(directives)")
                #expect(result["cache"]?["state"] == "stale" && result["cache"]?["age"] == 86_400, "\(directives)")
                for options: JSONObject in [["cache": "reload"], ["cache": "no-cache"], ["key": "other"]] {
                    let error = await #expect(throws: BridgeError.self) { try await stage.fetch(url, options) }
                    #expect(error?.code == "http.offline", "\(options)")
                }
                try await session.call("http.offline", ["on": false])
                #expect(try await stage.fetch(url)["from"] == "network", "\(directives)")
            }
        }
    }
}
