import BridgeJSON

// Stopping without losing a callback.
extension TaskRuntime {
    /// From now on no call is begun; calls in flight go on. `done` is called once none of them is left, nor anything
    /// that they have begun for their sessions, such as retained events on their way: at once where there is none.
    public func drain(_ done: @escaping () -> Void) {
        guard !isDraining else { return }
        publish("daemon.draining", data: .object([:]))
        isDraining = true
        onDrained = done
        noteDrainProgress()
    }

    /// The time for draining is over: calls that are still in flight end with `daemon.stopping`.
    public func endCallsInFlight() {
        for call in calls.inFlight where call.origin == .session {
            let error = BridgeError(
                .daemonStopping, "the daemon is stopping and waited as long as it may", isTransient: true)
            abort(call, error, reason: .shutdown)
        }
    }

    func noteDrainProgress() {
        guard let done = onDrained, clientCallsInFlight == 0, waitingJobs == 0 else { return }
        onDrained = nil
        done()
    }
}
