import BridgeJSON

// How streams end otherwise than by the tasks: with their holders, in time, and with the daemon.
extension StreamTable {
    // MARK: Ends before their time

    /// The holder is gone: one of the streams of which it has an end is left.
    ///
    /// - Returns: false where it has none.
    func leaveNext(of holder: StreamHolder?) -> Bool {
        guard let holder, let name = holder.names.first else { return false }
        for side in [StreamSide.writer, .reader] {
            guard let stream = streams[name], stream.holder(of: side) === holder else { continue }
            update(stream) { $0.leave(side, nil) }
        }
        holder.release(name)
        return true
    }

    /// The holder is gone, with all that it holds.
    func leaveAll(of holder: StreamHolder) {
        while leaveNext(of: holder) {}
    }

    /// The call has failed that these were made for.
    func fail(_ names: [StreamName], _ error: BridgeError) {
        let reason = BridgeError(error.code, "the call that the stream was made for has failed")
        for name in names {
            if let stream = streams[name] { end(stream, reason) }
        }
    }

    /// Each side that waits is answered immediately, each other one when it next asks.
    private func end(_ stream: OpenStream, _ reason: BridgeError) {
        update(stream) { state in
            var answers = state.end(reason)
            // A side that nobody has does not ask.
            for side in [StreamSide.writer, .reader] where stream.holder(of: side) == nil {
                answers += state.leave(side, nil)
            }
            return answers
        }
    }

    /// The same, and the stream is forgotten immediately.
    private func stop(_ stream: OpenStream, _ reason: BridgeError) {
        end(stream, reason)
        forget(stream)
    }

    // MARK: Time

    /// The clock woke the runtime: what has become due is done.
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

    /// From now on no stream is made; those that move go on. `done` is called once none is left: immediately where
    /// there is none.
    func drain(_ done: @escaping () -> Void) {
        isDraining = true
        onDrained = done
        for stream in streams.values { _ = stream.hasStoodStill() }
        if !streams.isEmpty { times.watchStill() }
        noteDrainProgress()
    }

    /// The time for draining has passed.
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
