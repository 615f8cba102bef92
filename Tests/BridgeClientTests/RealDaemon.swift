import BridgeClient
import BridgeJSON
import BridgeServer
import EventLoop
import Foundation
import Logging
import TaskRuntime
import Testing

/// The daemon's server and runtime at a socket. It can be started repeatedly.
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
        // The clock does not advance: no call and no stream times out, however long other tests occupy the loop.
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

    /// Ends every connection without an answer to its calls.
    func stop(timeout: Duration = .seconds(5)) async {
        server?.stopListening()
        await server?.close(timeout: timeout)
        server = nil
    }

    /// Releases the server. Its clients stay connected.
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

/// Runs a test with two clients, then waits until no stream is left.
@LoopActor
func withClients(
    limits: RuntimeLimits = RuntimeLimits(), _ body: @LoopActor (Bridge, Bridge) async throws -> Void
) async throws {
    try await withDaemon(limits: limits) { daemon in
        let (first, second) = (
            try await Bridge.connectOnce(to: daemon.path), try await Bridge.connectOnce(to: daemon.path)
        )
        try await body(first, second)
        // A released end is closed by a separate call, which may arrive after the next call. The status is requested
        // until it has arrived.
        while try await first.callJSON("bridge.status")["streams"] != 0 {}
        await first.close()
        await second.close()
    }
}
