import BridgeJSON
import BridgeMessage
import EventLoop

/// What lives as long as a client: its calls in flight, the tasks that it provides, its subscriptions.
@LoopActor
final class ClientSession {
    let connection: ClientConnection
    let calls: CallsInFlight
    let provided: ProvidedTasks
    let events: Subscriptions

    init(_ connection: ClientConnection) {
        self.connection = connection
        calls = CallsInFlight(connection)
        provided = ProvidedTasks(connection, calls)
        events = Subscriptions(calls)
        connection.session = self
    }

    func receive(_ message: BridgeMessage) {
        switch message {
        case .cancel(let id): provided.cancel(id)
        case .callback(let callback): calls.receive(callback)
        case .progress(let progress): calls.receive(progress)
        case .event(let event): events.receive(event)
        }
    }

    /// A line that is no message. Where it bears the id of a call of ours, that call ends: nothing better will come.
    func receive(_ problem: MessageProblem) {
        guard let id = problem.callbackID else { return }
        let code: ErrorCode = problem.error.code == .messageTooLarge ? .resultTooLarge : .pluginInvalidReply
        calls.end(id, .failure(BridgeError(code, "the daemon's callback is no message: \(problem.error.message)")))
    }

    func close() async {
        calls.cancelAll(.closedHere)
        events.end(.success(()))
        provided.cancelAll()
        // How long the daemon may take to close its end: it has nothing left to do for us but that.
        await connection.finish(patience: .seconds(1))
    }

    func connectionEnded(_ reason: BridgeError) {
        calls.endAll(reason)
        events.end(reason == .closedHere ? .success(()) : .failure(reason))
        provided.cancelAll()
    }
}
