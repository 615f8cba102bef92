import BridgeJSON
import BridgeMessage

// The way of a call out of the runtime. Nothing else ends a call.
extension CallEngine {
    /// Ends a call that is in flight, and answers its caller. What it borrows need only last until this returns.
    func end(_ call: Call, _ outcome: CallOutcome) {
        switch outcome {
        case .result(let result): end(call, result: result)
        case .failure(let error): end(call, error: error)
        }
    }

    /// Ends a call with its result: JSON that has been checked.
    ///
    /// - Parameter isOneLine: whether it is known to bear no line break.
    func end(_ call: Call, result: UnsafeRawBufferPointer, isOneLine: Bool = false) {
        // What the daemon itself asks plugins for is no message.
        guard result.count <= quotas.limits.messageBytes || call.task?.isInternal == true else {
            return end(call, error: .resultTooLarge(result.count, messageBytes: quotas.limits.messageBytes))
        }
        if let session = call.record.pointee.session,
            session._withUnsafeGuaranteedRef({
                $0.output.count &+ $0.batchBytes &+ result.count > Session.uncountedBytes
            }),
            // What is read of a stream has left its window for good: the stream looks for room before it answers.
            call.task?.stream == nil,
            !quotas.hasRoom(forResultOf: call, result.count)
        {
            return end(call, error: quotas.resultRefusal(call, result.count))
        }
        removeFromTables(call, isFailure: false)
        if monitor.isWatched { monitor.showEnd(of: call, result: result) }
        if call.hasExtras, let completion = call.completion {
            if let extras = call.record.pointee.extras, let passed = extras.passed {
                extras.descriptorReceiver?.pass(passed)
            }
            completion(.result(result))
        } else if let session = receiver(of: call) {
            session._withUnsafeGuaranteedRef { session in
                if call.hasExtras, let passed = call.record.pointee.extras?.passed { session.output.pass(passed) }
                guard call.record.pointee.dialect == .native else {
                    return writeForeign(call, to: session) {
                        MessageEncoder.callback(to: $0, result: result, isOneLine: isOneLine, $1)
                    }
                }
                MessageEncoder.callback(
                    id: call.record.pointee.id.text, result: result, isOneLine: isOneLine, to: session.output)
                output.markDirty(session)
            }
        }
        recycle(call)
    }

    /// Ends a call with an error.
    func end(_ call: Call, error: BridgeError) {
        removeFromTables(call, isFailure: true)
        if monitor.isWatched { monitor.showEnd(of: call, error: error) }
        if call.hasExtras, let completion = call.completion {
            completion(.failure(error))
        } else if let session = receiver(of: call) {
            session._withUnsafeGuaranteedRef { session in
                guard call.record.pointee.dialect == .native else {
                    return writeForeign(call, to: session) { MessageEncoder.callback(to: $0, error: error, $1) }
                }
                MessageEncoder.callback(id: call.record.pointee.id.text, error: error, to: session.output)
                output.markDirty(session)
            }
        }
        if call.hasExtras, let streams = call.record.pointee.extras?.streams, !streams.isEmpty {
            onFailure?(streams, error)
        }
        recycle(call)
    }

    /// From here on no handle and no id leads to the call.
    @inline(__always)
    private func removeFromTables(_ call: Call, isFailure: Bool) {
        if call.hasExtras { takeBack(call) }
        remove(call)
        if let provider = call.record.pointee.provider {
            provider._withUnsafeGuaranteedRef {
                $0.forwardedCount -= 1
                $0.providedCalls.remove(call)
            }
            call.record.pointee.provider = nil
        }
        if call.record.pointee.heldBytes != 0 { releaseHeld(call) }
        if call.hasExtras {
            call.record.pointee.extras?.maker?.ownCallsInFlight -= 1
            call.record.pointee.extras?.laneMark?.drop()
            leaveParent(call)
            leaveQueue(call)
        }
        let took = time.read().nanoseconds &- call.startedAt.nanoseconds
        call.record.pointee.task?._withUnsafeGuaranteedRef {
            $0.statistics.recordEnd(afterNanoseconds: took, isFailure: isFailure)
        }
    }

    /// The call no longer ends with the one on whose behalf it was made.
    func leaveParent(_ call: Call) {
        if let parent = call.parent.flatMap({ self.call($0) }) {
            let handle = call.handle
            parent.extras.children.removeAll { $0 == handle }
        }
    }

    /// The session that is owed a callback, all progress before it written.
    @inline(__always)
    private func receiver(of call: Call) -> Unmanaged<Session>? {
        guard call.origin == .session, call.hasID, let session = call.record.pointee.session else { return nil }
        return session._withUnsafeGuaranteedRef { open in
            guard open.takesMessages else { return nil }
            if call.hasExtras { writeHeldProgress(of: call, to: open) }
            return session
        }
    }

    /// The call has been answered: what was done on its behalf ends, and it goes back to the stock.
    @inline(__always)
    private func recycle(_ call: Call) {
        if call.origin == .session, let session = call.record.pointee.session {
            session._withUnsafeGuaranteedRef { if $0.phase == .inputEnded { closeIfDone($0) } }
        }
        if call.hasExtras { endChildren(of: call) }
        release(call)
        if isDraining { noteDrainProgress() }
    }

    /// Where a client that has ended its input has got everything, its connection ends too.
    func closeIfDone(_ session: Session) {
        guard session.phase == .inputEnded, session.callsInFlight == 0, session.callsAside == 0 else { return }
        session.phase = .closing
        events.endListening(session)
        session.transport?.closeWhenWritten()
    }

    private func endChildren(of call: Call) {
        for child in call.children {
            cancel(child, BridgeError(.callCancelled, "the call on whose behalf this one was made has ended"))
        }
    }

    // MARK: Before its time

    /// Ends a call before its work does: the provider is asked to stop, the caller gets the error with word of whether
    /// the work had begun.
    func abort(_ call: Call, _ error: BridgeError, reason: CancelReason) {
        let handle = call.handle
        var error = error
        var data = error.data?.objectValue ?? [:]
        data["started"] = .bool(hasBegun(call))
        error.data = .object(data)
        call.task?.provider.abandon(call, reason: reason)
        // The provider may have answered while it was asked: then the call has had its end.
        guard self.call(handle) != nil else { return }
        end(call, error: error)
    }

    /// Aborts the call of a handle, where it is still in flight.
    func cancel(_ handle: CallHandle, _ error: BridgeError) {
        if let call = self.call(handle) { abort(call, error, reason: .caller) }
    }

    // MARK: Progress

    /// Sends an intermediate result on. A slow reader gets the newest, not all; where its user has more unread than may
    /// be, none.
    func progress(_ call: Call, _ value: UnsafeRawBufferPointer) {
        guard call.takesProgress else { return }
        let sequence = call.takeSequence()
        if monitor.isWatched { monitor.showProgress(of: call, value, sequence: sequence) }
        if let onProgress = call.onProgress { return onProgress(sequence, value) }
        guard call.origin == .session, call.hasID, let session = call.session, session.takesMessages else {
            return
        }
        guard session.output.count < Session.slowReaderBytes else {
            if quotas.isOverQuota(session) { return }
            if call.heldProgress == nil { session.heldProgress.append(call.handle) }
            hold(value.count - (call.heldProgress?.value.count ?? 0), for: call)
            call.extras.heldProgress = (sequence, Array(value))
            return
        }
        write(progress: value, sequence, of: call, to: session)
    }

    private func write(progress: UnsafeRawBufferPointer, _ sequence: UInt64, of call: Call, to session: Session) {
        // Never into a batch: it is a message of its own.
        MessageEncoder.progress(to: address(of: call), value: progress, sequence: sequence, session.output)
        output.markDirty(session)
    }

    func writeHeldProgress(of call: Call, to session: Session) {
        guard let (sequence, value) = call.heldProgress else { return }
        call.extras.heldProgress = nil
        // Of a call that has ended nothing is held any longer.
        if call.record.pointee.heldBytes >= value.count { hold(-value.count, for: call) }
        value.withUnsafeBytes { write(progress: $0, sequence, of: call, to: session) }
    }

    /// The client has read on: progress that waited for it goes out.
    func writeHeldProgress(to session: Session) {
        guard !session.heldProgress.isEmpty else { return }
        let handles = session.heldProgress
        session.heldProgress = []
        for handle in handles {
            if let call = call(handle) { writeHeldProgress(of: call, to: session) }
        }
    }

    // MARK: What is held for calls

    /// The call's options are held, by the provider that works on it, until it ends.
    func hold(_ bytes: Int, for call: Call) {
        call.record.pointee.heldBytes += bytes
        // The sum goes with the session when it gets another account.
        call.session?.heldCallBytes += bytes
        quotas.hold(bytes, for: call.session?.account)
    }

    /// The call ends: nothing is held for it.
    private func releaseHeld(_ call: Call) { hold(-call.record.pointee.heldBytes, for: call) }
}
