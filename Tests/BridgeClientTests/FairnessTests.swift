import BridgeServer
import EventLoop
import Foundation
import Logging
import TaskRuntime
import Testing

@Suite @LoopActor struct FairnessTests {
    @Test("A client whose many calls take their time lets another one's call in between")
    func slowCalls() async throws {
        let directory = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: geteuid()),
            daemon: DaemonDescription(version: "test", pid: 0), clock: TickingClock(),
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let server = BridgeServer(
            runtime: runtime, limits: ServerLimits(),
            log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try server.listen(path: directory + "/s", mode: 0o600)

        // Both write before the loop looks at its sockets again.
        let busy = try ReplyCounter(connectingTo: directory + "/s")
        let other = try ReplyCounter(connectingTo: directory + "/s")
        busy.send((0..<100).map { #"{"task":"bridge.ping","callbackId":\#($0)}"# + "\n" }.joined())
        other.send(#"{"task":"bridge.ping","callbackId":0}"# + "\n")

        // Looked at as the reply comes: until a task has gone on, many a turn may have passed.
        var messagesBefore: UInt64 = 0
        other.onFirstReply = { messagesBefore = runtime.statistics.messages }
        await other.wait(for: 1)
        #expect(messagesBefore < 101)
        await busy.wait(for: 100)
        #expect(runtime.statistics.messages == 101)
        busy.close()
        other.close()
        server.stopListening()
        await server.close(patience: .seconds(1))
    }
}

/// A clock on which a third of a millisecond passes whenever it is looked at, so that every call seems to take long.
private final class TickingClock: RuntimeClock {
    private var nanoseconds: UInt64 = 1

    var now: RuntimeInstant {
        nanoseconds += 333_333
        return RuntimeInstant(nanoseconds: nanoseconds)
    }

    func wake(at moment: RuntimeInstant?) {}
}

/// A client that only counts the lines that it gets.
@LoopActor
private final class ReplyCounter: UnixStreamDelegate {
    private let stream: UnixStream
    private var count = 0
    var onFirstReply: () -> Void = {}
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(connectingTo path: String) throws {
        stream = try UnixStream.connect(path: path)
        stream.delegate = self
        stream.startReading()
    }

    func send(_ text: String) {
        Array(text.utf8).withUnsafeBytes { #expect(stream.write($0) == $0.count) }
    }

    func wait(for count: Int) async {
        guard self.count < count else { return }
        await withCheckedContinuation { waiter = (count, $0) }
    }

    func close() { stream.close() }

    func read(bytes: UnsafeRawBufferPointer) {
        if count == 0 { onFirstReply() }
        count += bytes.count { $0 == UInt8(ascii: "\n") }
        guard let waiter, count >= waiter.count else { return }
        self.waiter = nil
        waiter.continuation.resume()
    }

    func endOfInput() {}
    func hangUp() {}
    func writable() {}
    func failed(_ error: SystemError) {}
}
