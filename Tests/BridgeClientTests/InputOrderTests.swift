import BridgeServer
import EventLoop
import Foundation
import Logging
import Synchronization
import TaskRuntime
import Testing

@Suite("Input waits for the work of the session's earlier messages", .timeLimit(.minutes(20))) @LoopActor
struct InputOrderTests {
    /// The input after a registration that is read in the lane.
    enum Behind: CaseIterable {
        case call, endOfInput
    }

    @Test("also if the client had too much unread output when the messages arrived", arguments: Behind.allCases)
    func unread(behind: Behind) async throws {
        let (lane, service) = try Self.service()
        let provider = try LineClient(connectingTo: service.path)
        provider.send(#"{"task":"bridge.register","options":{"tasks":["big"]},"callbackId":"p"}"#)
        await provider.wait(for: 1)

        // The client does not read. The daemon keeps the answers that the socket does not hold.
        let client = try LineClient(connectingTo: service.path)
        client.stopReading()
        for id in 0..<Self.results { client.send(#"{"task":"big","callbackId":\#(id)}"#) }
        await provider.wait(for: 1 + Self.results)
        let result = String(repeating: "x", count: 60_000)
        for line in provider.lines.dropFirst() {
            let id = try #require(line.firstMatch(of: /"callbackId":(\d+)/)).1
            provider.send(#"{"callbackId":\#(id),"result":"\#(result)"}"#)
        }
        let observer = try LineClient(connectingTo: service.path)
        await provider.ping()

        let registration =
            #"{"task":"bridge.register","options":{"tasks":["t"],"descriptions":{"t":{"options":{"description":""#
            + String(repeating: "x", count: 2_000) + #""}}}},"callbackId":"r"}"#
        client.send(registration + (behind == .call ? "\n" + #"{"task":"bridge.ping","callbackId":"b"}"# : ""))
        if behind == .endOfInput { client.endInput() }
        await observer.ping()
        #expect(lane.count == 1)

        client.startReading()
        await client.wait(for: Self.results)
        await observer.ping()
        await observer.ping()
        #expect(client.lines.count == Self.results)
        lane.release()
        let expected = behind == .call ? ["\"r\"", "\"b\""] : ["\"r\""]
        await client.wait(for: Self.results + expected.count)
        let answers = client.lines.dropFirst(Self.results)
        for (line, id) in zip(answers, expected) {
            #expect(line.contains(#""callbackId":\#(id)"#) && line.contains(#""result""#), "\(line)")
        }
        for client in [provider, client, observer] { client.close() }
        await service.end()
    }

    /// The number of results. They exceed a socket's buffer and a session's limit of unread bytes.
    private static let results = 40

    /// Returns a lane that the test releases, and a server that uses it.
    private static func service() throws -> (HeldLane, Service) {
        let lane = HeldLane()
        var limits = RuntimeLimits()
        limits.unreadBytes = 256 * 1024
        return (lane, try Service(limits, lane))
    }
}

/// A runtime and its server at a separate socket.
@LoopActor
private final class Service {
    let path: String
    private let directory: String
    private let server: BridgeServer

    init(_ limits: RuntimeLimits, _ lane: HeldLane) throws {
        directory = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        path = directory + "/s"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        // The clock does not advance: no call times out, however long other tests occupy the loop.
        let clock = ManualRuntimeClock()
        let runtime = TaskRuntime(
            limits: limits, policy: Policy(daemonUID: geteuid()),
            daemon: DaemonDescription(version: "test", pid: 0), clock: clock, lane: lane, log: log)
        clock.runtime = runtime
        server = BridgeServer(runtime: runtime, limits: ServerLimits(), log: log)
        try server.listen(path: path, mode: 0o600)
    }

    func end() async {
        server.stopListening()
        await server.close(timeout: .seconds(1))
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// A lane that holds its work until it is released.
@LoopActor
private final class HeldLane {
    private var held: [() -> Void] = []
    var count: Int { held.count }

    func release() {
        let held = held
        self.held = []
        for work in held { work() }
    }
}

extension HeldLane: @LoopActor WorkLane {
    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        held.append { done(work()) }
    }
}

/// A client that sends lines and keeps the lines that it receives.
@LoopActor
private final class LineClient: UnixStreamDelegate {
    private let stream: UnixStream
    private var unsent: [UInt8] = []
    private var unfinished: [UInt8] = []
    private(set) var lines: [String] = []
    private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

    init(connectingTo path: String) throws {
        stream = try UnixStream.connect(path: path)
        stream.delegate = self
        stream.startReading()
    }

    func stopReading() { stream.stopReading() }
    func startReading() { stream.startReading() }
    func endInput() { stream.shutdownWrite() }
    func close() { stream.close() }

    func send(_ text: String) {
        unsent += Array((text + "\n").utf8)
        writable()
    }

    /// Returns when the daemon has handled everything that was sent before.
    func ping() async {
        let count = lines.count
        send(#"{"task":"bridge.ping","callbackId":"ping"}"#)
        await wait(for: count + 1)
    }

    /// Waits until that number of lines has arrived or the connection has ended.
    func wait(for count: Int) async {
        guard lines.count < count else { return }
        await withCheckedContinuation { waiter = (count, $0) }
    }

    func read(bytes: UnsafeRawBufferPointer) {
        unfinished += bytes
        let parts = unfinished.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines += parts.dropLast().map { String(decoding: $0, as: UTF8.self) }
        unfinished = Array(parts.last ?? [])
        if let waiter, lines.count >= waiter.count { goOn() }
    }

    private func goOn() {
        let waiter = waiter
        self.waiter = nil
        waiter?.continuation.resume()
    }

    func writable() {
        guard !unsent.isEmpty else { return }
        unsent.removeFirst(unsent.withUnsafeBytes { stream.write($0) })
    }

    func endOfInput() { goOn() }
    func hangUp() { goOn() }
    func failed(_ error: SystemError) { goOn() }
}
