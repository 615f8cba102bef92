import BridgeJSON
import BridgeServer
import EventLoop
import Foundation
import Logging
import TaskRuntime
import Testing

@Suite("Input that takes long", .timeLimit(.minutes(10))) @LoopActor
struct FairnessTests {
    private static let ping = #"{"task":"bridge.ping","callbackId":0}"#

    @Test("lets another client's call run in between")
    func slowCalls() async throws {
        let pings = repeatElement(Self.ping + "\n", count: 100).joined()
        try await expectBetween(pings, isLast: false)
    }

    @Test("lets another client's call run in between if it is one last line without a newline")
    func lastLine() async throws {
        // The items belong to the native dialect but are no client messages. Items of no dialect may be JSON-RPC, which
        // gets one answer.
        let items = repeatElement(#"{"event":"e"}"#, count: 100).joined(separator: ",")
        try await expectBetween("[\(items)]", isLast: true)
    }

    /// - Parameter input: The input, which the daemon answers with 100 lines.
    private func expectBetween(_ input: String, isLast: Bool) async throws {
        try await withSlowServer { path in
            let busy = try ReplyCounter(connectingTo: path)
            let other = try ReplyCounter(connectingTo: path)
            busy.onFirstReply = { other.send(Self.ping + "\n") }
            busy.send(input)
            if isLast { busy.endOutput() }
            // Sampled when the reply arrives, because many turns may pass before a Swift task resumes.
            var answeredBefore = 0
            other.onFirstReply = { answeredBefore = busy.count }
            await other.wait(for: 1)
            #expect(answeredBefore < 100)
            await busy.wait(for: 100)
            busy.close()
            other.close()
        }
    }

    @Test("lets another client's call run between the items of a JSON-RPC batch", arguments: [100, 1_000])
    func batch(count: Int) async throws {
        try await withSlowServer { path in
            let busy = try ReplyCounter(connectingTo: path)
            let other = try ReplyCounter(connectingTo: path)
            busy.onFirstReply = { other.send(Self.ping + "\n") }
            // A batch of 1,000 calls is a line that is checked in steps.
            let calls = (1...count).map { #"{"jsonrpc":"2.0","method":"bridge.ping","id":\#($0)}"# }
            busy.send(Self.ping + "\n[" + calls.joined(separator: ",") + "]\n")
            var answeredBefore = 0
            other.onFirstReply = { answeredBefore = busy.count }
            await other.wait(for: 1)
            #expect(answeredBefore == 1)
            await busy.wait(for: 2)
            let answers = try JSON(parsing: String(busy.text.split(separator: "\n")[1])).arrayValue
            #expect(answers?.map { $0["id"] } == (1...count).map { .number(JSONNumber($0)) })
            #expect(answers?.allSatisfy { $0["result"] != nil } == true)
            busy.close()
            other.close()
        }
    }

    @Test("is answered in the dialect of the first item if it is a batch of mixed dialects")
    func mixedBatch() async throws {
        try await withSlowServer { path in
            let client = try ReplyCounter(connectingTo: path)
            let calls = (1...3).map { #"{"jsonrpc":"2.0","method":"bridge.ping","id":\#($0)}"# }
            client.send("[" + ([Self.ping] + calls).joined(separator: ",") + "]\n")
            await client.wait { $0.text.contains(#""id":3"#) }
            #expect(client.text.split(separator: "\n").allSatisfy { $0.hasPrefix("{") }, "\(client.text)")
            client.close()
        }
    }

    @Test("is cancelled by a later hang-up although the last line had no newline")
    func hangUp() async throws {
        try await withSlowServer { path in
            let provider = try ReplyCounter(connectingTo: path)
            provider.send(#"{"task":"bridge.register","options":{"tasks":["slow"]},"callbackId":1}"# + "\n")
            await provider.wait(for: 1)
            let client = try ReplyCounter(connectingTo: path)
            let slow = #"{"task":"slow","callbackId":9}"#
            client.send("[" + (repeatElement(Self.ping, count: 5) + [slow]).joined(separator: ",") + "]")
            client.endOutput()
            await client.wait(for: 5)
            // The call arrives first, then its cancel.
            await provider.wait(for: 2)
            client.close()
            await provider.wait(for: 3)
            provider.close()
        }
    }

    /// Runs a test with a server for which every call seems to take long. The body receives the path of its socket.
    private func withSlowServer(_ body: @LoopActor (String) async throws -> Void) async throws {
        let directory = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        // The clock advances by a third of a millisecond at each reading, so that every call seems to take long.
        let clock = ManualRuntimeClock()
        clock.tick = .microseconds(333)
        let runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: geteuid()),
            daemon: DaemonDescription(version: "test", pid: 0), clock: clock, log: log)
        let server = BridgeServer(runtime: runtime, limits: ServerLimits(), log: log)
        try server.listen(path: directory + "/s", mode: 0o600)
        try await body(directory + "/s")
        server.stopListening()
        await server.close(timeout: .seconds(1))
    }
}

/// A client that counts the lines that it receives.
@LoopActor
private final class ReplyCounter: UnixStreamDelegate {
    private let stream: UnixStream
    private(set) var count = 0
    private var received: [UInt8] = []
    var text: String { String(decoding: received, as: UTF8.self) }
    var onFirstReply: () -> Void = {}
    private var waiter: (condition: (ReplyCounter) -> Bool, continuation: CheckedContinuation<Void, Never>)?

    init(connectingTo path: String) throws {
        stream = try UnixStream.connect(path: path)
        stream.delegate = self
        stream.startReading()
    }

    func send(_ text: String) {
        Array(text.utf8).withUnsafeBytes { #expect(stream.write($0) == $0.count) }
    }

    func wait(for count: Int) async {
        await wait { $0.count >= count }
    }

    func wait(until condition: @escaping (ReplyCounter) -> Bool) async {
        guard !condition(self) else { return }
        await withCheckedContinuation { waiter = (condition, $0) }
    }

    func endOutput() { stream.shutdownWrite() }
    func close() { stream.close() }

    func read(bytes: UnsafeRawBufferPointer) {
        if count == 0 { onFirstReply() }
        received += bytes
        count += bytes.count { $0 == UInt8(ascii: "\n") }
        guard let waiter, waiter.condition(self) else { return }
        self.waiter = nil
        waiter.continuation.resume()
    }

    func endOfInput() {}
    func hangUp() {}
    func writable() {}
    func failed(_ error: SystemError) {}
}
