import BridgeJSON

// How streams end other than by the tasks: with their holders, by time, and with the daemon.
extension StreamTable {
    // MARK: Early ends

    /// Leaves one of the streams of which the holder, which has ended, has an end.
    ///
    /// - Returns: `false` if it has none.
    func leaveNext(of holder: StreamHolder?) -> Bool {
        guard let holder, let name = holder.names.first else { return false }
        for side in [StreamSide.writer, .reader] {
            guard let stream = streams[name], stream.holder(of: side) === holder else { continue }
            update(stream) { $0.leave(side, nil) }
        }
        holder.release(name)
        return true
    }

    /// Leaves all streams of which the holder, which has ended, has an end.
    func leaveAll(of holder: StreamHolder) {
        while leaveNext(of: holder) {}
    }

    /// Ends the streams that were made for a call, which has failed.
    func fail(_ names: [StreamName], _ error: BridgeError) {
        let reason = BridgeError(error.code, "the call that the stream was made for has failed")
        for name in names {
            if let stream = streams[name] { end(stream, reason) }
        }
    }

    /// Ends a stream. A side that waits is answered immediately, another one at its next call.
    private func end(_ stream: OpenStream, _ reason: BridgeError) {
        update(stream) { state in
            var answers = state.end(reason)
            // A side without a holder makes no calls.
            for side in [StreamSide.writer, .reader] where stream.holder(of: side) == nil {
                answers += state.leave(side, nil)
            }
            return answers
        }
    }

    /// Does the same, and removes the stream immediately.
    private func stop(_ stream: OpenStream, _ reason: BridgeError) {
        end(stream, reason)
        forget(stream)
    }

    // MARK: Time

    /// Does the work that is due. Called when the clock has woken the runtime.
    func expire() {
        while let name = times.popUnclaimed() { checkClaim(of: name) }
        for session in times.takeRetries() { refill(session) }
        if times.isStillDue() { endStill() }
        times.arm()
    }

    private func checkClaim(of name: StreamName) {
        guard let stream = streams[name], !stream.isClaimed else { return }
        let isAwaited = stream.takers.root.map { calls.call(numbered: $0) != nil } ?? stream.makerHasCalls
        guard isAwaited || stream.wasAwaited else { return stop(stream, StreamTimers.unclaimed) }
        stream.wasAwaited = isAwaited
        times.waitForClaim(of: name) { [streams] in streams[$0]?.isClaimed == false }
    }

    // MARK: The end of the daemon

    private static let stopping = BridgeError(.daemonStopping, "the daemon is stopping", isTransient: true)

    /// Stops the creation of streams; streams that move continue. `done` is called once none is left: immediately if
    /// there is none.
    func drain(_ done: @escaping () -> Void) {
        isDraining = true
        onDrained = done
        for stream in streams.values { _ = stream.hasStoodStill() }
        if !streams.isEmpty { times.watchStill() }
        noteDrainProgress()
    }

    /// Ends all streams: the time for draining has passed.
    func endAll() { for stream in Array(streams.values) { stop(stream, Self.stopping) } }

    private func endStill() {
        for stream in Array(streams.values) where !stream.state.isDirect && stream.hasStoodStill() {
            stop(stream, Self.stopping)
        }
        if !streams.isEmpty { times.watchStill() }
    }

    func noteDrainProgress() {
        guard let done = onDrained, streams.isEmpty else { return }
        onDrained = nil
        done()
    }
}
