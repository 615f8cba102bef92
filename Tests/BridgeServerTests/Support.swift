import BridgeJSON
import EventLoop
import Foundation
import Logging

@testable import BridgeServer
@testable import TaskRuntime

/// A lane that runs a job only when a test calls it.
final class HeldLane: WorkLane {
    private var waiting: [() -> Void] = []
    var count: Int { waiting.count }

    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        waiting.append { done(work()) }
    }

    func runNext() { waiting.removeFirst()() }
}

/// A server with its runtime and a lane, at a socket of its own.
@LoopActor
final class ServerOfTest {
    let lane = HeldLane()
    let runtime: TaskRuntime
    let server: BridgeServer
    private let folder = "/tmp/trestle-\(UUID().uuidString.prefix(13))"

    init(_ limits: RuntimeLimits = RuntimeLimits()) throws {
        // The clock does not advance: no call times out, however long other tests hold the loop.
        let clock = ManualRuntimeClock()
        let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        runtime = TaskRuntime(
            limits: limits, policy: Policy(daemonUID: getuid()), daemon: DaemonDescription(version: "1", pid: 1),
            clock: clock, lane: lane, log: log)
        clock.runtime = runtime
        server = BridgeServer(runtime: runtime, limits: ServerLimits(), log: log)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try server.listen(path: folder + "/s", mode: 0o600)
    }

    func client() throws -> ClientOfTest { try ClientOfTest(folder + "/s") }

    func stop() async {
        server.stopListening()
        await server.close(timeout: .zero)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Turns the loop until the condition holds. The suite's time limit ends a wait in vain.
    func turn(until condition: () -> Bool) async -> Bool {
        while !condition() {
            if Task.isCancelled { return false }
            await turnOfLoop()
        }
        return true
    }

    /// Turns the loop much longer than the condition would need. Returns whether the condition never held.
    func turnsInVain(for condition: () -> Bool) async -> Bool {
        for _ in 0..<200 {
            if condition() { return false }
            await turnOfLoop()
        }
        return !condition()
    }
}

/// A client at the other end of a real socket, on the same loop.
@LoopActor
final class ClientOfTest: UnixStreamDelegate {
    private let stream: UnixStream
    private var received: [UInt8] = []

    init(_ path: String) throws {
        stream = try UnixStream.connect(path: path)
        stream.delegate = self
    }

    func send(_ lines: String...) {
        for line in lines { Array((line + "\n").utf8).withUnsafeBytes { _ = stream.write($0) } }
    }

    func startReading() { stream.startReading() }
    func endInput() { stream.shutdownWrite() }
    func close() { stream.close() }

    /// The messages received so far.
    var messages: [JSON] {
        received.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON(parsing: Array($0)) }
    }

    func read(bytes: UnsafeRawBufferPointer) { received += bytes }
    func endOfInput() {}
    func hangUp() {}
    func writable() {}
    func failed(_ error: SystemError) {}
}

/// Waits for one turn of the loop.
@LoopActor
private func turnOfLoop() async {
    await withCheckedContinuation { continuation in
        let timer = LoopTimer {}
        var hook: TurnEndHook?
        hook = EventLoop.atTurnEnd {
            hook?.remove()
            hook = nil
            timer.close()
            continuation.resume()
        }
    }
}
