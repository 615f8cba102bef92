import Synchronization
import TaskKit

/// The deadline of a call of `http.fetch`. The fetch is ended here shortly before the daemon ends the call, with an
/// error that contains the phase of the transfer. Any thread.
final class FetchDeadline: Sendable {
    /// The time between the end of the fetch and the daemon's timeout, so that the fetch's error is sent first.
    static let margin = Duration.milliseconds(50)

    private struct State {
        /// The current phase; `nil` if no transfer of this fetch has begun.
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

    /// Runs the work of a call in its Swift task, and ends it at the deadline.
    ///
    /// - Parameter left: The remaining time of the call.
    /// - Throws: The error of `work`; `call.timeout` if the deadline has passed.
    func bound(
        _ call: Call, _ left: Duration, _ work: () async throws(BridgeError) -> JSON
    ) async throws(BridgeError) -> JSON {
        // The margin must not use up a short time.
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

    /// The timeout error; `nil` if the deadline has not passed.
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
