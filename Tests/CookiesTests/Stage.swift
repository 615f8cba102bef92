import HTTPRules
import Synchronization
import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

/// Clocks that only advance when a test advances them.
final class TestClocks: Sendable {
    private struct State {
        var elapsed: Int64 = 0
        var boot = "first"
    }

    private let state = Mutex(State())
    static let start: Int64 = 1_800_000_000

    func advance(by seconds: Int64) { state.withLock { $0.elapsed += seconds } }
    func boot(_ name: String) { state.withLock { $0.boot = name } }

    var clocks: CookieClocks {
        CookieClocks(
            wall: { UnixTime(seconds: Self.start + self.state.withLock { $0.elapsed }) },
            monotonic: { .seconds(self.state.withLock { $0.elapsed }) }, boot: { self.state.withLock { $0.boot } })
    }
}

extension TestSession {
    /// Returns the error of a call; `nil` if it succeeds.
    func error(_ task: String, _ options: JSON) async -> BridgeError? {
        do {
            try await call(task, options)
            return nil
        } catch {
            return error as? BridgeError
        }
    }

    /// Returns the sorted pairs of name and value from a call of `cookies.get`.
    func pairs(_ options: JSON = [:]) async throws -> [String] {
        let cookies = try await call("cookies.get", options)["cookies"]?.arrayValue ?? []
        return cookies.map { "\($0["name"]?.stringValue ?? "")=\($0["value"]?.stringValue ?? "?")" }.sorted()
    }

    /// Sets a cookie by a Set-Cookie line.
    func set(_ url: String, _ line: String) async throws {
        try await call("cookies.set", ["url": .string(url), "line": .string(line)])
    }
}

/// Runs `body` with the plugin on a bridge whose daemon has uid 1000.
func withCookies(
    _ section: JSON = [:], clocks: TestClocks = TestClocks(), directory: String? = nil,
    _ body: (TestBridge) async throws -> Void
) async throws {
    let bridge = try await TestBridge.start(
        .cookies(clocks.clocks), configuration: ["cookies": section], stateDirectory: directory, daemonUID: 1000)
    do {
        try await body(bridge)
    } catch {
        await bridge.stop()
        throw error
    }
    await bridge.stop()
}
