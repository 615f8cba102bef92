import BridgeJSON
import BridgeMessage
import EventLoop

/// The tasks that this client provides, and the calls of them that run.
@LoopActor
final class ProvidedTasks {
    /// Calls that run at once; beyond, callers are told to come back: each is a Swift task with its options in memory.
    private static let maximumRunning = 1_024

    /// An id of the daemon's, kept: the same for ids that are the same. The next daemon chooses the same ones again;
    /// the connection is alive as long as a call of it is.
    private struct ID: Hashable {
        let connection: ObjectIdentifier
        let content: [UInt8]
        let isString: Bool

        init(_ id: CallbackID, _ connection: ClientConnection) {
            self.connection = ObjectIdentifier(connection)
            content = Array(id.content)
            isString = id.isString
        }
    }

    /// Where the answer to a call goes: to whoever sent it, and to nobody else.
    private struct Sender {
        let connection: ClientConnection
        /// The text of the call's id.
        let id: [UInt8]
    }

    private let link: Link
    private let calls: CallsInFlight
    private var registrations = Registrations()
    private var handlers: [String: TaskHandler] = [:]
    private var running: [ID: Task<Void, Never>] = [:]
    private var oneWayCount = 0

    init(_ link: Link, _ calls: CallsInFlight) {
        self.link = link
        self.calls = calls
    }

    // MARK: Registering

    func register(_ registration: Registration, _ handler: @escaping TaskHandler) async throws(BridgeError) {
        // Before the daemon knows: the first call may come with the callback.
        let earlier = handlers.updateValue(handler, forKey: registration.task)
        do throws(BridgeError) {
            _ = try await calls.call(registration.request(timeout: nil))
        } catch {
            handlers[registration.task] = earlier
            throw error
        }
        registrations.add(registration)
    }

    func unregister(_ task: String) async throws(BridgeError) {
        // A daemon that is not there has nothing to forget, and the next one is not told.
        if !link.isApart {
            let options: JSON = ["tasks": [.string(task)]]
            _ = try await calls.call(CallRequest("bridge.unregister", options, session: nil, timeout: nil))
        }
        registrations.remove(task)
        handlers[task] = nil
    }

    /// Registers everything with another daemon. Returns what it refuses.
    /// - Throws: why the connection is of no use.
    func restore(over connection: ClientConnection) async throws(BridgeError) -> [RefusedRegistration] {
        var refused: [RefusedRegistration] = []
        for registration in registrations.all where registrations.contains(registration.task) {
            do throws(BridgeError) {
                let request = registration.request(timeout: ClientSession.helloTimeout)
                _ = try await calls.call(request, over: connection)
            } catch {
                if connection.isUseless(after: error) { throw error }
                refused.append(RefusedRegistration(task: registration.task, error: error))
            }
        }
        return refused
    }

    // MARK: Calls

    func receive(_ message: CallMessage, from connection: ClientConnection) {
        let sender = message.callbackID.map { Sender(connection: connection, id: Array($0.text)) }
        do throws(BridgeError) {
            let call = try incoming(message, sender)
            guard let handler = handlers[call.task] else {
                throw BridgeError(.taskNotFound, "this client provides no task \(call.task)")
            }
            guard running.count + oneWayCount < Self.maximumRunning else {
                throw BridgeError(
                    .busy, "this client works on \(Self.maximumRunning) calls, as many as it does at once",
                    isTransient: true, retryAfter: .seconds(1))
            }
            if let sender, let id = message.callbackID {
                start(call, handler, ID(id, connection), sender)
            } else {
                startOneWay(call, handler)
            }
        } catch {
            if let sender { answer(sender, .failure(error)) }
        }
    }

    private func incoming(_ message: CallMessage, _ sender: Sender?) throws(BridgeError) -> IncomingCall {
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
            wantsProgress: message.wantsProgress, isOneWay: sender == nil,
            report: { [weak self] value in
                if let sender { await self?.report(sender, numbers, value) }
            })
    }

    private func start(_ call: IncomingCall, _ handler: @escaping TaskHandler, _ key: ID, _ sender: Sender) {
        running[key] = Task { @concurrent in
            let outcome = await Self.run(handler, call)
            await self.finish(key, sender, outcome)
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

    private func finish(_ key: ID, _ sender: Sender, _ outcome: Result<JSON, BridgeError>) async {
        running[key] = nil
        // A cancelled call does not wait; it gets its one callback all the same.
        try? await sender.connection.waitForRoom(for: "a callback")
        answer(sender, outcome)
    }

    private func finishOneWay() {
        oneWayCount -= 1
    }

    private func report(_ sender: Sender, _ numbers: ProgressNumbers, _ value: JSON) async {
        guard (try? await sender.connection.waitForRoom(for: "progress")) != nil else { return }
        let sequence = numbers.next()
        sender.connection.send { output in
            sender.id.withUnsafeBytes { id in
                value.bytes.withUnsafeBytes { value in
                    MessageEncoder.progress(id: id, value: value, sequence: sequence, to: output)
                }
            }
        }
    }

    private func answer(_ sender: Sender, _ outcome: Result<JSON, BridgeError>) {
        sender.connection.send { output in
            sender.id.withUnsafeBytes { id in
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
    func cancel(_ id: CallbackID, from connection: ClientConnection) {
        running[ID(id, connection)]?.cancel()
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
