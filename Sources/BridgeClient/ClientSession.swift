import BridgeJSON
import BridgeMessage
import EventLoop
import Synchronization

/// What lives as long as a bridge, however many connections it has: its calls, the tasks that it provides, its
/// subscriptions.
@LoopActor
final class ClientSession {
    /// How long a daemon may take to answer what a new connection begins with.
    static let helloTimeout = Duration.seconds(10)

    let link: Link
    let calls: CallsInFlight
    let provided: ProvidedTasks
    let events: Subscriptions
    let states = StateReaders()
    /// What the daemon of the present connection, or of the last one, said of itself.
    nonisolated let daemon = Mutex<DaemonInfo?>(nil)
    /// Makes the readers of the options of a call that a handler works on, or of a result, where they are decoded.
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

    /// Says who this is. Where the daemon does not let this peer say so, it may still let it call.
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
            // An origin other than the wanted one would be another client.
            case .permissionDenied where configuration.origin == nil, .taskNotFound where configuration.origin == nil:
                daemon.withLock { $0 = nil }
            case .callTimeout, .sessionClosed:
                if connection.isEndedOnPurpose { throw error }
                throw .unreachable(link.path, "it takes connections but does not answer")
            default: throw error
            }
        }
    }

    /// Provides and listens to what the last daemon knew of. Returns what this one refuses to have provided.
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

    // MARK: What comes

    func receive(_ message: BridgeMessage, from connection: ClientConnection) {
        switch message {
        case .cancel(let id): provided.cancel(id, from: connection)
        case .callback(let callback): calls.receive(callback, from: connection)
        case .progress(let progress): calls.receive(progress)
        case .event(let event):
            // Where the program listens to that, no call need be refused to know of it.
            if event.isNamed("daemon.draining") { _ = link.hold() }
            events.receive(event)
        // A client says that, not a daemon.
        case .listening: break
        }
    }

    /// A line that is no message. Where it bears the id of a call of ours, that call ends: nothing better will come.
    func receive(_ problem: MessageProblem) {
        guard let id = problem.callbackID else { return }
        let code: ErrorCode = problem.error.code == .messageTooLarge ? .resultTooLarge : .replyInvalid
        calls.end(id, .failure(BridgeError(code, "the daemon's callback is no message: \(problem.error.message)")))
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

    /// A connection has ended, and what went over it with it.
    func connectionEnded(_ connection: ClientConnection, _ reason: BridgeError) {
        calls.lost(connection, reason)
        provided.cancelAll()
        link.lost(connection, reason)
    }

    /// There will be no other connection.
    func ended(_ reason: BridgeError) {
        calls.endWaiting(reason)
        events.end(reason == .closedHere ? .success(()) : .failure(reason))
        provided.cancelAll()
        states.notify(.closed(reason))
    }
}
