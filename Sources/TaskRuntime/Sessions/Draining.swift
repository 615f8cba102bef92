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

    /// The time for draining is over: calls that are still in flight end with `daemon.stopping`, within a share of each
    /// turn.
    public func endCallsInFlight() {
        let error = BridgeError(
            .daemonStopping, "the daemon is stopping and waited as long as it may", isTransient: true)
        let sweep = CallSweep(calls) { [unowned self] call in
            if call.origin == .session { abort(call, error, reason: .shutdown) }
        }
        begin(sweep, for: UserAccount(uid: policy.daemonUID, isTrusted: true, quotas))
    }

    func noteDrainProgress() {
        guard let done = onDrained, clientCallsInFlight == 0, waitingJobs == 0 else { return }
        onDrained = nil
        done()
    }
}
