import BridgeJSON
import BridgeMessage
import EventLoop
import Logging
import TaskRuntime

/// A client without a socket. It passes lines directly to the runtime and reads the output at the end of each turn.
@LoopActor
final class TestClient {
    private enum Pending {
        case waiting(CheckedContinuation<Result<JSON, BridgeError>, Never>)
        case done(Result<JSON, BridgeError>)
    }

    private unowned let core: TestCore
    private var session: Session?
    private var lastID: Int64 = 0
    private var pending: [Int64: Pending] = [:]
    private var progress: [Int64: [JSON]] = [:]
    private var servers: [String: @Sendable (JSON) async throws -> JSON] = [:]
    private var serving: [Int64: Task<Void, Never>] = [:]
    private var events: [(name: String, data: JSON)] = []
    private var eventWaiters: [CheckedContinuation<(name: String, data: JSON), Never>] = []
    private(set) var isClosed = false

    init(core: TestCore) { self.core = core }

    var number: UInt64 { session?.number ?? 0 }

    func open(_ peer: PeerIdentity) { session = core.runtime.open(peer, transport: self) }

    // MARK: Calls

    func begin(_ task: String, _ options: JSON, _ timeout: Duration?) -> Int64 {
        lastID += 1
        var message: JSONObject = [
            "task": .string(task), "options": options, "callbackId": .number(JSONNumber(lastID)), "progress": true,
        ]
        if let timeout { message["timeout"] = .number(JSONNumber(max(1, timeout.wholeMilliseconds))) }
        send(.object(message))
        return lastID
    }

    func outcome(of id: Int64) async throws -> (progress: [JSON], result: JSON) {
        let outcome: Result<JSON, BridgeError>
        if case .done(let known) = pending[id] {
            outcome = known
        } else if isClosed {
            outcome = .failure(Self.closed)
        } else {
            outcome = await withCheckedContinuation { pending[id] = .waiting($0) }
        }
        pending[id] = nil
        return (progress.removeValue(forKey: id) ?? [], try outcome.get())
    }

    func cancel(_ id: Int64) { send(["cancel": .number(JSONNumber(id))]) }

    func serve(_ task: String, _ body: @escaping @Sendable (JSON) async throws -> JSON) { servers[task] = body }

    func nextEvent() async -> (name: String, data: JSON) {
        if !events.isEmpty { return events.removeFirst() }
        return await withCheckedContinuation { eventWaiters.append($0) }
    }

    func hangUp() {
        guard let session else { return }
        core.runtime.hangUp(session)
        end()
    }

    // MARK: Messages

    func send(_ message: JSON) { send(line: message.text) }

    func send(line: String) {
        guard let session, !isClosed else { return }
        let bytes = Array(line.utf8) + Array(repeating: 0, count: MessageSplitter.paddingBytes)
        bytes.withUnsafeBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes[..<line.utf8.count])
            _ = core.decoder.decode(.line(text)) { item in
                core.runtime.receive(item, from: session)
                return true
            }
        }
        core.runtime.writeOutput()
    }

    private func receive(_ message: JSON) {
        if let name = message["event"]?.stringValue {
            let event = (name: name, data: message["data"] ?? .null)
            if eventWaiters.isEmpty {
                events.append(event)
            } else {
                eventWaiters.removeFirst().resume(returning: event)
            }
        } else if message["task"] != nil {
            serve(message)
        } else if let id = message["cancel"]?.int64Value {
            serving[id]?.cancel()
        } else if let id = message["callbackId"]?.int64Value {
            if let value = message["progress"] {
                progress[id, default: []].append(value)
            } else {
                finish(id, message)
            }
        }
    }

    private func finish(_ id: Int64, _ message: JSON) {
        let result: Result<JSON, BridgeError> =
            if let error = message["error"] {
                .failure(BridgeError(json: error) ?? BridgeError(.messageInvalid, "not an error object: \(error.text)"))
            } else {
                .success(message["result"] ?? .null)
            }
        if case .waiting(let continuation) = pending[id] {
            continuation.resume(returning: result)
        }
        pending[id] = .done(result)
    }

    private func serve(_ call: JSON) {
        guard let task = call["task"]?.stringValue, let server = servers[task] else { return }
        let id = call["callbackId"]?.int64Value
        let work = Task { @LoopActor [weak self] in
            var answer: JSONObject = ["callbackId": id.map { .number(JSONNumber($0)) } ?? .null]
            do {
                answer["result"] = try await server(call["options"] ?? .null)
            } catch {
                answer["error"] = (error as? BridgeError ?? BridgeError(.internal, "\(error)")).json
            }
            if id != nil { self?.send(.object(answer)) }
        }
        if let id { serving[id] = work }
    }

    private func end() {
        isClosed = true
        for (id, pending) in pending {
            if case .waiting(let continuation) = pending {
                self.pending[id] = nil
                continuation.resume(returning: .failure(Self.closed))
            }
        }
    }

    private static var closed: BridgeError { BridgeError(.sessionClosed, "the test's session was closed") }
}

extension TestClient: @LoopActor SessionTransport {
    func writeOutput() {
        guard let session else { return }
        let text = String(decoding: session.output.copy(), as: UTF8.self)
        session.output.removeAll()
        for line in text.split(separator: "\n") {
            if let message = try? JSON(parsing: String(line)) { receive(message) }
        }
        core.runtime.refill(session)
    }

    func closeWhenWritten() {
        EventLoop.post { [self] in
            writeOutput()
            hangUp()
        }
    }
}
