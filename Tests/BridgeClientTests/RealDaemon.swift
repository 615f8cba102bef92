import BridgeClient
import BridgeJSON
import BridgeServer
import EventLoop
import Foundation
import Logging
import TaskRuntime
import Testing

/// The daemon's own server and runtime at a socket, to be started any number of times.
@LoopActor
final class RealDaemon {
    let path: String
    private let directory: String
    private let limits: RuntimeLimits
    private var server: BridgeServer?

    init(limits: RuntimeLimits) throws {
        self.limits = limits
        directory = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        path = directory + "/s"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try start()
    }

    func start() throws {
        // It stands still: no call or stream ends by time, however long other tests hold the loop.
        let clock = ManualRuntimeClock()
        let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let runtime = TaskRuntime(
            limits: limits, policy: Policy(daemonUID: getuid()),
            daemon: DaemonDescription(version: "9.9", pid: 1), clock: clock, log: log)
        clock.runtime = runtime
        let server = BridgeServer(runtime: runtime, limits: ServerLimits(), log: log)
        try server.listen(path: path, mode: 0o600)
        self.server = server
    }

    /// Ends every connection, without a word to its calls.
    func stop(timeout: Duration = .seconds(5)) async {
        server?.stopListening()
        await server?.close(timeout: timeout)
        server = nil
    }

    /// Nobody holds the server any more; whoever is connected stays so.
    func abandon() {
        server?.stopListening()
        server = nil
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// Runs a test with a daemon.
@LoopActor
func withDaemon(
    limits: RuntimeLimits = RuntimeLimits(), _ body: @LoopActor (RealDaemon) async throws -> Void
) async throws {
    let daemon = try RealDaemon(limits: limits)
    defer { daemon.remove() }
    do {
        try await body(daemon)
    } catch {
        await daemon.stop()
        throw error
    }
    await daemon.stop()
}

/// Runs a test with two clients, which leave no stream behind.
@LoopActor
func withClients(
    limits: RuntimeLimits = RuntimeLimits(), _ body: @LoopActor (Bridge, Bridge) async throws -> Void
) async throws {
    try await withDaemon(limits: limits) { daemon in
        let (first, second) = (
            try await Bridge.connectOnce(to: daemon.path), try await Bridge.connectOnce(to: daemon.path)
        )
        try await body(first, second)
        // An end that is dropped is closed by a call of its own, which may come after the next one: asked again until
        // that has come.
        while try await first.callJSON("bridge.status")["streams"] != 0 {}
        await first.close()
        await second.close()
    }
}
