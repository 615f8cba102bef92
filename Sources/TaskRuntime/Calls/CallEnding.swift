import BridgeJSON
import BridgeMessage

// How a call leaves the runtime. Nothing else ends a call.
extension CallEngine {
    /// Ends a call in flight, and answers its caller. Borrowed memory must be valid only until this returns.
    func end(_ call: Call, _ outcome: CallOutcome) {
        switch outcome {
        case .result(let result): end(call, result: result)
        case .failure(let error): end(call, error: error)
        }
    }

    /// Ends a call with its result: JSON that has been checked.
    ///
    /// - Parameter isOneLine: Whether it is known to contain no line break.
    func end(_ call: Call, result: UnsafeRawBufferPointer, isOneLine: Bool = false) {
        // The answers to the daemon's own requests to plugins are not messages.
        guard result.count <= quotas.limits.messageBytes || call.task?.isInternal == true else {
            return end(call, error: .resultTooLarge(result.count, messageBytes: quotas.limits.messageBytes))
        }
        if let session = call.record.pointee.session,
            session._withUnsafeGuaranteedRef({
                $0.output.count &+ $0.batchBytes &+ result.count > Session.uncountedBytes
            }),
            // Bytes read from a stream cannot be put back into its window: the stream checks for room before it
            // answers.
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

    /// Removes a call from the tables: from here on no handle and no id refers to it.
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

    /// Detaches a call from its parent, so that it does not end with it.
    func leaveParent(_ call: Call) {
        if let parent = call.parent.flatMap({ self.call($0) }) {
            let handle = call.handle
            parent.extras.children.removeAll { $0 == handle }
        }
    }

    /// Returns the session that receives the callback, after writing all earlier progress.
    @inline(__always)
    private func receiver(of call: Call) -> Unmanaged<Session>? {
        guard call.origin == .session, call.hasID, let session = call.record.pointee.session else { return nil }
        return session._withUnsafeGuaranteedRef { open in
            guard open.takesMessages else { return nil }
            events.catchUp(open)
            if call.hasExtras { writeHeldProgress(of: call, to: open) }
            return session
        }
    }

    /// Returns an answered call to the pool, and ends the calls made on its behalf.
    @inline(__always)
    private func recycle(_ call: Call) {
        if call.origin == .session, let session = call.record.pointee.session {
            session._withUnsafeGuaranteedRef { if $0.phase == .inputEnded { closeIfDone($0) } }
        }
        if call.hasExtras { endChildren(of: call) }
        release(call)
        if isDraining { noteDrainProgress() }
    }

    /// Closes the connection of a client that has ended its input and has received everything.
    func closeIfDone(_ session: Session) {
        guard session.phase == .inputEnded, session.callsInFlight == 0, session.callsAside == 0 else { return }
        events.catchUp(session)
        session.phase = .closing
        events.endListening(session)
        session.transport?.closeWhenWritten()
    }

    private func endChildren(of call: Call) {
        for child in call.children {
            cancel(child, BridgeError(.callCancelled, "the call on whose behalf this one was made has ended"))
        }
    }

    // MARK: Early ends

    /// Ends a call before its work does: the provider is asked to stop, and the caller receives the error, which states
    /// whether the work had begun.
    func abort(_ call: Call, _ error: BridgeError, reason: CancelReason) {
        let handle = call.handle
        var error = error
        var data = error.data?.objectValue ?? [:]
        data["started"] = .bool(hasBegun(call))
        error.data = .object(data)
        call.task?.provider.abandon(call, reason: reason)
        // The provider may have answered while it was asked to stop: then the call has already ended.
        guard self.call(handle) != nil else { return }
        end(call, error: error)
    }

    /// Aborts the call of a handle, if it is still in flight.
    func cancel(_ handle: CallHandle, _ error: BridgeError) {
        if let call = self.call(handle) { abort(call, error, reason: .caller) }
    }

    // MARK: Progress

    /// Forwards an intermediate result. A slow reader receives only the newest; if its user has too much unread output,
    /// none.
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
        events.catchUp(session)
        // Never into a batch: progress is a message of its own.
        MessageEncoder.progress(to: address(of: call), value: progress, sequence: sequence, session.output)
        output.markDirty(session)
    }

    func writeHeldProgress(of call: Call, to session: Session) {
        guard let (sequence, value) = call.heldProgress else { return }
        call.extras.heldProgress = nil
        // No bytes are held for a call that has ended.
        if call.record.pointee.heldBytes >= value.count { hold(-value.count, for: call) }
        value.withUnsafeBytes { write(progress: $0, sequence, of: call, to: session) }
    }

    /// Writes the progress that waited for the client to read more.
    func writeHeldProgress(to session: Session) {
        guard !session.heldProgress.isEmpty else { return }
        let handles = session.heldProgress
        session.heldProgress = []
        for handle in handles {
            if let call = call(handle) { writeHeldProgress(of: call, to: session) }
        }
    }

    // MARK: Held memory

    /// Counts memory that is held for a call until it ends, for example its options with the provider.
    func hold(_ bytes: Int, for call: Call) {
        call.record.pointee.heldBytes += bytes
        // The sum moves with the session when its account changes.
        call.session?.heldCallBytes += bytes
        quotas.hold(bytes, for: call.session?.account)
    }

    /// Releases all memory held for a call, which ends.
    private func releaseHeld(_ call: Call) { hold(-call.record.pointee.heldBytes, for: call) }
}
