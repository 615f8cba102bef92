import BridgeJSON
import BridgeMessage
import EventLoop
import Synchronization

/// The state that lasts as long as a bridge, over all its connections: its calls, the tasks that it provides, its
/// subscriptions.
@LoopActor
final class ClientSession {
    /// How long the daemon may take to answer each call with which a new connection begins.
    static let helloTimeout = Duration.seconds(10)

    let link: Link
    let calls: CallsInFlight
    let provided: ProvidedTasks
    let events: Subscriptions
    let states = StateReaders()
    /// The daemon's description of itself for the current connection, or for the last one.
    nonisolated let daemon = Mutex<DaemonInfo?>(nil)
    /// Makes the stream readers for the options of a call that a handler works on, or for a result, when these are
    /// decoded.
    let streamReaders: StreamReadersMaker

    init(_ link: Link) {
        self.link = link
        calls = CallsInFlight(link)
        provided = ProvidedTasks(link, calls)
        events = Subscriptions(link, calls)
        streamReaders = { [calls] call in DecodedStreams(for: call, calls) }
        link.session = self
    }

    // MARK: A new connection

    /// Sends `bridge.hello`. If the daemon refuses it to this peer, it may still accept calls.
    func introduce(over connection: ClientConnection) async throws(BridgeError) {
        let configuration = link.configuration
        var options: JSONObject = ["client": .string(configuration.client)]
        options["version"] = configuration.version.map(JSON.string)
        options["origin"] = configuration.origin.map(JSON.string)
        do throws(BridgeError) {
            let request = CallRequest("bridge.hello", .object(options), timeout: .after(Self.helloTimeout))
            let hello = try await calls.call(request, over: connection)
            if let limit = hello["limits"]?["messageBytes"]?.int64Value { connection.messageBytes = Int(limit) }
            daemon.withLock { $0 = DaemonInfo(hello) }
        } catch {
            if connection.failure != nil, let rejection = connection.rejection {
                throw .turnedAway(link.path, rejection)
            }
            switch error.code {
            // Without its origin this program would act as another client.
            case .permissionDenied where configuration.origin == nil, .taskNotFound where configuration.origin == nil:
                daemon.withLock { $0 = nil }
            case .callTimeout, .sessionClosed:
                if connection.isEndedOnPurpose { throw error }
                throw .unreachable(link.path, "it accepts connections but does not answer")
            default: throw error
            }
        }
    }

    /// Registers and subscribes again what the last daemon had accepted. Returns the registrations that this one
    /// refuses.
    func restore(over connection: ClientConnection) async throws(BridgeError) -> [RefusedRegistration] {
        let refused = try await provided.restore(over: connection)
        try await events.restore(over: connection)
        return refused
    }

    /// - Parameter isNew: Whether there was a session before.
    func opened(_ connection: ClientConnection, isNew: Bool, _ refused: [RefusedRegistration]) {
        calls.sendWaiting(over: connection)
        states.notify(.open(daemon.withLock { $0 }, isNew: isNew, refused: refused))
    }

    // MARK: Incoming messages

    func receive(_ message: BridgeMessage, from connection: ClientConnection) {
        switch message {
        case .cancel(let id): provided.cancel(id, from: connection)
        case .callback(let callback): calls.receive(callback, from: connection)
        case .progress(let progress): calls.receive(progress)
        case .event(let event):
            // If the program subscribes to this event, calls can wait before one has been refused.
            if event.isNamed("daemon.draining") { _ = link.hold() }
            events.receive(event)
        // Clients send this, daemons do not.
        case .listening: break
        }
    }

    /// Handles a line that is not a message. If it contains the id of an open call, that call ends: no valid answer
    /// will follow.
    func receive(_ problem: MessageProblem) {
        guard let id = problem.callbackID else { return }
        let code: ErrorCode = problem.error.code == .messageTooLarge ? .resultTooLarge : .replyInvalid
        calls.end(id, .failure(BridgeError(code, "the daemon's callback is not a message: \(problem.error.message)")))
    }

    // MARK: The end

    func close() async {
        if link.end == nil {
            calls.cancelAll(.closedHere)
            events.end(.success(()))
            provided.cancelAll()
        }
        await link.close()
    }

    /// Ends everything that used a connection that has ended.
    func connectionEnded(_ connection: ClientConnection, _ reason: BridgeError) {
        calls.lost(connection, reason)
        provided.cancelAll()
        link.lost(connection, reason)
    }

    /// Ends everything: there will be no other connection.
    func ended(_ reason: BridgeError) {
        calls.endWaiting(reason)
        events.end(reason == .closedHere ? .success(()) : .failure(reason))
        provided.cancelAll()
        states.notify(.closed(reason))
    }
}
