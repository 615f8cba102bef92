import BridgeJSON
import BridgeMessage
import EventLoop

/// The tasks that this client provides, and the calls of them that run.
@LoopActor
final class ProvidedTasks {
    /// Calls that run at once; beyond, callers are told to come back: each is a Swift task with its options in memory.
    private static let mostRunning = 1_024

    /// An id of the daemon's, kept: the same for ids that are the same.
    private struct ID: Hashable {
        let content: [UInt8]
        let isString: Bool

        init(_ id: CallbackID) {
            content = Array(id.content)
            isString = id.isString
        }
    }

    private let connection: ClientConnection
    private let calls: CallsInFlight
    private var handlers: [String: TaskHandler] = [:]
    private var running: [ID: Task<Void, Never>] = [:]
    private var oneWayCount = 0

    init(_ connection: ClientConnection, _ calls: CallsInFlight) {
        self.connection = connection
        self.calls = calls
    }

    // MARK: Registering

    func register(_ task: String, _ scope: ProviderScope, _ handler: @escaping TaskHandler) async throws(BridgeError) {
        // Before the daemon knows: the first call may come with the callback.
        let earlier = handlers.updateValue(handler, forKey: task)
        let options: JSON = ["tasks": [.string(task)], "scope": .string(scope.rawValue)]
        do throws(BridgeError) {
            _ = try await calls.call(CallRequest("bridge.register", options, session: nil, timeout: nil))
        } catch {
            handlers[task] = earlier
            throw error
        }
    }

    func unregister(_ task: String) async throws(BridgeError) {
        let options: JSON = ["tasks": [.string(task)]]
        _ = try await calls.call(CallRequest("bridge.unregister", options, session: nil, timeout: nil))
        handlers[task] = nil
    }

    // MARK: Calls

    func receive(_ message: CallMessage) {
        let id = message.callbackID.map { (key: ID($0), text: Array($0.text)) }
        do throws(BridgeError) {
            let call = try incoming(message, id?.text)
            guard let handler = handlers[call.task] else {
                throw BridgeError(.taskNotFound, "this client provides no task \(call.task)")
            }
            guard running.count + oneWayCount < Self.mostRunning else {
                throw BridgeError(
                    .busy, "this client works on \(Self.mostRunning) calls, as many as it does at once",
                    isTransient: true, retryAfter: .seconds(1))
            }
            if let id { start(call, handler, id.key, id.text) } else { startOneWay(call, handler) }
        } catch {
            if let id { answer(id.text, .failure(error)) }
        }
    }

    private func incoming(_ message: CallMessage, _ id: [UInt8]?) throws(BridgeError) -> IncomingCall {
        let options: JSON
        do throws(JSONSyntaxError) {
            options = try JSON(parsing: message.options)
        } catch {
            throw BridgeError(.messageInvalid, "the options are no JSON: \(error)")
        }
        let numbers = ProgressNumbers()
        return IncomingCall(
            task: String(decoding: message.task, as: UTF8.self), options: options,
            caller: .init(message.caller.isEmpty ? nil : try? JSON(parsing: message.caller)), timeout: message.timeout,
            wantsProgress: message.wantsProgress, isOneWay: id == nil,
            report: { [weak self] value in
                if let id { await self?.report(id, numbers, value) }
            })
    }

    private func start(_ call: IncomingCall, _ handler: @escaping TaskHandler, _ key: ID, _ text: [UInt8]) {
        running[key] = Task { @concurrent in
            let outcome = await Self.run(handler, call)
            await self.finish(key, text, outcome)
        }
    }

    private func startOneWay(_ call: IncomingCall, _ handler: @escaping TaskHandler) {
        oneWayCount += 1
        Task { @concurrent in
            _ = await Self.run(handler, call)
            await self.finishOneWay()
        }
    }

    private nonisolated static func run(
        _ handler: TaskHandler, _ call: IncomingCall
    ) async -> Result<JSON, BridgeError> {
        do {
            return .success(try await handler(call))
        } catch let error as BridgeError {
            return .failure(error)
        } catch is CancellationError {
            return .failure(BridgeError(.callCancelled, "the call was cancelled", data: ["started": true]))
        } catch {
            return .failure(BridgeError(.internal, "\(call.task) failed: \(error)"))
        }
    }

    private func finish(_ key: ID, _ text: [UInt8], _ outcome: Result<JSON, BridgeError>) async {
        running[key] = nil
        // A cancelled call does not wait; it gets its one callback all the same.
        try? await connection.waitForRoom(for: "a callback")
        answer(text, outcome)
    }

    private func finishOneWay() {
        oneWayCount -= 1
    }

    private func report(_ id: [UInt8], _ numbers: ProgressNumbers, _ value: JSON) async {
        guard (try? await connection.waitForRoom(for: "progress")) != nil else { return }
        let sequence = numbers.next()
        connection.send { output in
            id.withUnsafeBytes { id in
                value.bytes.withUnsafeBytes { value in
                    MessageEncoder.progress(id: id, value: value, sequence: sequence, to: output)
                }
            }
        }
    }

    private func answer(_ id: [UInt8], _ outcome: Result<JSON, BridgeError>) {
        connection.send { output in
            id.withUnsafeBytes { id in
                switch outcome {
                case .success(let result):
                    result.bytes.withUnsafeBytes { MessageEncoder.callback(id: id, result: $0, to: output) }
                case .failure(let error):
                    MessageEncoder.callback(id: id, error: error, to: output)
                }
            }
        }
    }

    // MARK: The end

    /// The caller cancels: the handler's Swift task is told; it still ends with the one callback.
    func cancel(_ id: CallbackID) {
        running[ID(id)]?.cancel()
    }

    func cancelAll() {
        for task in running.values { task.cancel() }
    }
}

/// Counts one call's progress from 0.
@LoopActor
private final class ProgressNumbers {
    private var count: UInt64 = 0

    func next() -> UInt64 {
        defer { count += 1 }
        return count
    }
}
