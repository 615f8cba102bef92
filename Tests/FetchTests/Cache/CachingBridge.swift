import TaskKit
import TaskKitTesting
import TestSupport

@testable import FetchTasks

/// The plugin with a clock that the test advances.
struct CachingBridge {
    let bridge: TestBridge
    let clock: CacheClock

    /// Runs a test with the plugin and a server.
    static func with(
        _ script: JSON, configuration: JSON = Fetching.open,
        _ body: (CachingBridge, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(script)
        let clock = CacheClock()
        let bridge = try await TestBridge.start(
            .fetch(FetchService(now: { clock.now })), configuration: ["fetch": configuration], daemonUID: 1000)
        do {
            try await body(CachingBridge(bridge: bridge, clock: clock), server)
        } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    /// Fetches a URL.
    @discardableResult
    func fetch(_ url: JSON, _ options: JSONObject = [:], uid: UInt32 = 1000) async throws -> JSON {
        var options = options
        options["url"] = url
        return try await bridge.session(uid: uid).call("http.fetch", .object(options))
    }

    /// Returns the requests that a server has received, without those for `/_seen`.
    func seen(_ server: ScriptedServer) async throws -> [JSON] {
        let result = try await fetch(server.url("/_seen"), ["cache": "no-store"])
        return result["body"]?["json"]?.arrayValue ?? []
    }
}
