import BridgeJSON
import BridgeMessage

// The way of a call out of the runtime. Nothing else ends a call.
extension TaskRuntime {
    /// Ends a call that is in flight, and tells whoever made it. What it borrows need only last until this returns.
    func end(_ call: Call, _ outcome: CallOutcome) {
        var outcome = outcome
        if case .result(let result) = outcome, result.count > limits.messageBytes {
            outcome = .failure(
                BridgeError(
                    .resultTooLarge,
                    "the result of \(result.count) bytes is longer than the \(limits.messageBytes) that a message may have"
                ))
        }
        calls.remove(call)
        detach(call)
        count(call, outcome)
        tell(call, outcome)
        for child in call.children {
            cancel(child, BridgeError(.callCancelled, "the call on whose behalf this one was made has ended"))
        }
        calls.release(call)
        if isDraining { noteDrainProgress() }
    }

    /// Ends a call before its work does: the provider is told to stop, the caller gets the error with word of whether
    /// the work had begun.
    func abort(_ call: Call, _ error: BridgeError, reason: CancelReason) {
        let handle = call.handle
        var error = error
        var data = error.data?.objectValue ?? [:]
        data["started"] = .bool(call.state == .running)
        error.data = .object(data)
        call.task?.provider.abandon(call, reason: reason)
        // The provider may have answered while it was told: then the call has had its end.
        guard calls.call(handle) != nil else { return }
        end(call, .failure(error))
    }

    /// Aborts the call of a handle, where it is still in flight.
    func cancel(_ handle: CallHandle, _ error: BridgeError) {
        if let call = calls.call(handle) { abort(call, error, reason: .caller) }
    }

    private func detach(_ call: Call) {
        if case .session(let session) = call.origin {
            session.index.remove(call)
            session.callsInFlight -= 1
            clientCallsInFlight -= 1
        }
        if let (session, id) = call.provider { session.forwarded[id] = nil }
        if let parent = call.parent {
            let handle = call.handle
            calls.call(parent)?.children.removeAll { $0 == handle }
        }
    }

    private func count(_ call: Call, _ outcome: CallOutcome) {
        guard let task = call.task else { return }
        task.statistics.inFlight -= 1
        if outcome.isFailure { task.statistics.errors += 1 }
        task.statistics.latency.record(nanoseconds: clock.now.nanoseconds &- call.startedAt.nanoseconds)
    }

    private func tell(_ call: Call, _ outcome: CallOutcome) {
        if let completion = call.completion { return completion(outcome) }
        guard case .session(let session) = call.origin, session.takesMessages else { return }
        if call.hasID {
            writeHeldProgress(of: call, to: session)
            call.withIDText { id in
                switch outcome {
                case .result(let result): MessageEncoder.callback(id: id, result: result, to: session.output)
                case .failure(let error): MessageEncoder.callback(id: id, error: error, to: session.output)
                }
            }
            markDirty(session)
        }
        closeIfDone(session)
    }

    // MARK: Progress

    /// Sends an intermediate result on. A slow reader gets the newest, not all.
    func progress(_ call: Call, _ value: UnsafeRawBufferPointer) {
        guard call.takesProgress else { return }
        let sequence = call.takeSequence()
        if let onProgress = call.onProgress { return onProgress(sequence, value) }
        guard case .session(let session) = call.origin, session.takesMessages, call.hasID else { return }
        guard session.output.count < Self.slowReaderBytes else {
            if call.heldProgress == nil { session.heldProgress.append(call.handle) }
            call.heldProgress = (sequence, Array(value))
            return
        }
        call.withIDText { MessageEncoder.progress(id: $0, value: value, sequence: sequence, to: session.output) }
        markDirty(session)
    }

    /// From this many unread bytes on, progress and events wait: half of what a socket's own buffer holds by default.
    static var slowReaderBytes: Int { 96 * 1024 }

    func writeHeldProgress(of call: Call, to session: Session) {
        guard let (sequence, value) = call.heldProgress else { return }
        call.heldProgress = nil
        call.withIDText { id in
            value.withUnsafeBytes {
                MessageEncoder.progress(id: id, value: $0, sequence: sequence, to: session.output)
            }
        }
        markDirty(session)
    }
}
