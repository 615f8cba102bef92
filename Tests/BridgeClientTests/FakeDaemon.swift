import BridgeClient
import BridgeJSON
import EventLoop
import Foundation

/// A server that implements the protocol as a test directs it. It answers `bridge.hello` by itself.
@LoopActor
final class FakeDaemon {
    let path: String
    private let directory: String
    private var listener: UnixListener?
    private var newcomers: [CheckedContinuation<FakeConnection, Never>] = []
    private var takenCount = 0
    private(set) var connections: [FakeConnection] = []
    var helloResult: JSON = [
        "protocol": 1, "session": 7, "daemon": ["name": "trestled", "version": "9.9"], "features": ["progress"],
        "limits": ["messageBytes": 1_048_576, "callTimeoutMs": 60_000],
    ]
    /// The error that answers `bridge.hello` on new connections; `nil` to answer with `helloResult`.
    var helloError: JSON?
    /// Called with each new connection.
    var onAccept: (@LoopActor (FakeConnection) -> Void)?

    init() throws {
        directory = "/tmp/trestle-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        path = directory + "/bridge.sock"
        try listen()
    }

    func listen() throws {
        let listener = try UnixListener.bind(path: path)
        self.listener = listener
        listener.onAccept = { [weak self] socket, _ in
            guard let self, let stream = try? UnixStream(adopting: socket) else { return }
            let connection = FakeConnection(stream)
            connections.append(connection)
            connection.helloResult = helloResult
            connection.helloError = helloError
            onAccept?(connection)
            if !newcomers.isEmpty { newcomers.removeFirst().resume(returning: take()) }
        }
        listener.startAccepting()
    }

    /// Refuses connections until `listen()`.
    func stopListening() {
        listener?.close()
        listener = nil
    }

    /// Returns the next connection that no caller has taken.
    func nextConnection() async -> FakeConnection {
        if takenCount < connections.count { return take() }
        return await withCheckedContinuation { newcomers.append($0) }
    }

    private func take() -> FakeConnection {
        takenCount += 1
        return connections[takenCount - 1]
    }

    func close() {
        stopListening()
        for connection in connections { connection.close() }
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// The daemon's side of one client's connection.
@LoopActor
final class FakeConnection: UnixStreamDelegate {
    private let stream: UnixStream
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var messages: [JSON] = []
    private var readers: [CheckedContinuation<JSON, Never>] = []
    private var ends: [CheckedContinuation<Void, Never>] = []
    private(set) var isAtEnd = false
    var helloResult: JSON = [:]
    var helloError: JSON?
    /// The options of `bridge.hello`; `nil` until it has arrived.
    private(set) var hello: JSON?

    init(_ stream: UnixStream) {
        self.stream = stream
        stream.delegate = self
        stream.startReading()
    }

    /// Returns the next message from the client other than `bridge.hello`.
    func next() async -> JSON {
        if !messages.isEmpty { return messages.removeFirst() }
        return await withCheckedContinuation { readers.append($0) }
    }

    /// The received messages that no caller has taken.
    var untaken: [JSON] { messages }

    /// Waits until the client has ended its output.
    func end() async {
        if isAtEnd { return }
        await withCheckedContinuation { ends.append($0) }
    }

    func send(_ text: String) {
        output += text.utf8
        output.append(0x0A)
        writable()
    }

    func send(_ message: JSON) { send(message.text) }

    /// Answers a call.
    func answer(_ call: JSON, _ result: JSON) {
        send(["callbackId": call["callbackId"] ?? nil, "result": result])
    }

    /// Answers a call with an error object.
    func fail(_ call: JSON, _ error: JSON) {
        send(["callbackId": call["callbackId"] ?? nil, "error": error])
    }

    func stopReading() { stream.stopReading() }
    func startReading() { stream.startReading() }
    func close() { stream.close() }
    var hasUnsentOutput: Bool { !output.isEmpty }

    // MARK: UnixStreamDelegate

    func read(bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            input += rest[..<end]
            receive((try? JSON(parsing: input)) ?? "no JSON")
            input = []
            rest = rest[(end + 1)...]
        }
        input += rest
    }

    private func receive(_ message: JSON) {
        if message["task"] == "bridge.hello" {
            hello = message["options"]
            if let helloError { return fail(message, helloError) }
            return answer(message, helloResult)
        }
        if readers.isEmpty { messages.append(message) } else { readers.removeFirst().resume(returning: message) }
    }

    func writable() {
        guard !output.isEmpty else { return }
        let count = output.withUnsafeBytes { stream.write($0) }
        output.removeFirst(count)
    }

    func endOfInput() { ended() }
    func hangUp() { ended() }
    func failed(_ error: SystemError) { ended() }

    private func ended() {
        isAtEnd = true
        for continuation in ends { continuation.resume() }
        ends = []
    }
}

/// Runs a test with a client that does not reconnect and the fake daemon's end of its connection.
@LoopActor
func withFakeDaemon(
    as name: String? = nil,
    _ body: @LoopActor (Bridge, FakeConnection, FakeDaemon) async throws -> Void
) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.close() }
    let client = try await Bridge.connectOnce(to: daemon.path, as: name)
    // The connection that answered the client's hello.
    try await body(client, daemon.connections[0], daemon)
}

/// Returns the error that the body throws; `nil` if it throws none.
@LoopActor
func error(of body: @LoopActor @Sendable () async throws(BridgeError) -> Void) async -> BridgeError? {
    do throws(BridgeError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// Variants of the API with JSON arguments, so that tests can write them as literals.
extension Bridge {
    /// Connects without reconnection.
    static func connectOnce(
        to path: String, as client: String? = nil, version: String? = nil
    ) async throws(BridgeError) -> Bridge {
        try await connect(socket: path, configuration: .init(client: client, version: version, reconnect: nil))
    }

    func callJSON(
        _ task: String, _ options: JSON = [:], session: SessionID? = nil, timeout: Timeout = .standard,
        retry: Retry = .never
    ) async throws(BridgeError) -> JSON {
        try await call(task, options, session: session, timeout: timeout, retry: retry)
    }

    func progressJSON(
        _ task: String, _ options: JSON = [:], retry: Retry = .never
    ) async throws(BridgeError) -> CallProgress<JSON, JSON> {
        try await callWithProgress(task, options, retry: retry)
    }

    func notifyJSON(_ task: String, _ options: JSON = [:]) async throws(BridgeError) {
        try await notify(task, options)
    }

    @discardableResult
    func registerJSON(
        _ task: String, scope: ProviderScope = .any, description: TaskDescription? = nil,
        _ handler: @escaping @Sendable (JSON, IncomingCall) async throws -> JSON
    ) async throws(BridgeError) -> Registration {
        try await register(task, scope: scope, description: description, handler)
    }
}

extension BridgeEvent {
    /// The event that a stream gets after a new session.
    static let missed = BridgeEvent(name: "bridge.events_dropped", data: ["count": nil])
}
