import CookiesTasks
import Synchronization
import TaskKit
import TaskKitTesting

@testable import FetchTasks

/// An interceptor of `http.load` that a test controls.
protocol DecidingInterceptor: Interceptor {
    var decide: @Sendable (InterceptedCall) async throws -> Decision { get }
}

extension DecidingInterceptor {
    static var summary: String { "Decides as the test says." }
    var tasks: [String] { ["http.load"] }

    func intercept(_ call: InterceptedCall) async throws -> Decision { try await decide(call) }
}

struct ChainInterceptor: DecidingInterceptor {
    static let name = "chain.load"
    let decide: @Sendable (InterceptedCall) async throws -> Decision
}

/// A second interceptor, for a plugin that starts after the first one's.
struct NewerInterceptor: DecidingInterceptor {
    static let name = "newer.load"
    let decide: @Sendable (InterceptedCall) async throws -> Decision
}

/// The noted values, in order.
final class Noted<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock { $0 } }
    func note(_ value: Value) { values.withLock { $0.append(value) } }
}

/// A bridge with Fetch, Cookies, and interceptors of `http.load`.
enum LoadChain {
    /// - Parameters:
    ///   - script: The script of the server.
    ///   - newer: A plugin that starts after the one of `decide`.
    ///   - decide: The interceptor's decision.
    ///   - body: Called with the bridge and the server.
    static func with(
        _ script: JSON, newer: Plugin? = nil,
        _ decide: @escaping @Sendable (InterceptedCall) async throws -> Decision,
        _ body: (TestBridge, ScriptedServer) async throws -> Void
    ) async throws {
        let server = try ScriptedServer(script)
        let chain = Plugin("chain", version: "1.0.0") { Door() }.interceptor(ChainInterceptor(decide: decide))
        let configuration = ["fetch": Fetching.open]
        let bridge =
            if let newer {
                try await TestBridge.start(.cookies(), .fetch(), chain, newer, configuration: configuration)
            } else {
                try await TestBridge.start(.cookies(), .fetch(), chain, configuration: configuration)
            }
        do { try await body(bridge, server) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }
}
