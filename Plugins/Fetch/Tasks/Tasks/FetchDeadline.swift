import Synchronization
import TaskKit

/// The time that a call of `http.fetch` has. Shortly before the daemon ends the call, the fetch ends here, with an
/// error that says how far its transfer was. Any thread.
final class FetchDeadline: Sendable {
    /// How long before the daemon the fetch ends, so that its error comes first.
    static let margin = Duration.milliseconds(50)

    private struct State {
        /// Nil: no transfer of this fetch has begun.
        var phase: TransferProgress.Phase?
        /// Whether a byte of a request has been sent.
        var hasStarted = false
        var isOver = false
    }

    private let state = Mutex(State())

    func note(_ phase: TransferProgress.Phase) {
        state.withLock { state in
            state.phase = phase
            if !phase.isBeforeRequest { state.hasStarted = true }
        }
    }

    /// Does the work of a call, in its Swift task.
    ///
    /// - Parameter left: The time that the call has.
    /// - Throws: What `work` throws; `call.timeout`, where the call is past its deadline.
    func bound(
        _ call: Call, _ left: Duration, _ work: () async throws(BridgeError) -> JSON
    ) async throws(BridgeError) -> JSON {
        // A short time is not taken up by the margin.
        let timer = call.plugin.timer(after: left - min(Self.margin, left / 4)) {
            self.state.withLock { $0.isOver = true }
            call.cancel()
        }
        defer { timer.cancel() }
        do throws(BridgeError) { return try await work() } catch {
            if error.code == .callCancelled, let timeout { throw timeout }
            throw error
        }
    }

    /// The error of a call past its deadline; nil: it is not.
    private var timeout: BridgeError? {
        let state = state.withLock { $0 }
        guard state.isOver else { return nil }
        var data: JSONObject = ["started": .bool(state.hasStarted)]
        data["phase"] = state.phase.map { .string($0.rawValue) }
        let place = state.phase.map { ": it was \($0.rawValue)" } ?? ""
        return BridgeError(
            .callTimeout, "the fetch did not end within the call's timeout\(place)", data: .object(data),
            isTransient: true)
    }
}
