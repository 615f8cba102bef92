public import BridgeJSON

// What the daemon holds in memory for clients, counted for each uid and for all: answers and events that wait for their
// reader, lines whose end has not come, options of calls in flight, the newest progress of slow readers, the answers of
// unfinished batches.
extension TaskRuntime {
    /// So much output of a session is not looked at: a socket takes it at once, or few turns later. What is counted is
    /// exact for sessions that have more.
    @inlinable public static var uncountedBytes: Int { 64 * 1024 }

    /// Counts anew what is held for a session. The server calls this where output was left unwritten, and where a line
    /// is long in coming.
    public func countQueued(_ session: Session) {
        let bytes = session.queuedBytes + session.heldInputBytes + session.batchBytes
        hold(bytes - session.countedBytes, for: session.account)
        session.countedBytes = bytes
        countUnread(UnreadOutput(bytes: session.queuedBytes, events: session.queuedEvents), of: session)
    }

    private func countUnread(_ output: UnreadOutput, of session: Session) {
        unread.bytes += output.bytes - session.countedUnread.bytes
        unread.events += output.events - session.countedUnread.events
        session.countedUnread = output
    }

    /// The session is gone: nothing is held for it.
    func releaseQueued(_ session: Session) {
        hold(-session.countedBytes, for: session.account)
        session.countedBytes = 0
        countUnread(UnreadOutput(), of: session)
    }

    /// Whether more is held for the session's user, or for all, than may be.
    public func isOverQuota(_ session: Session) -> Bool {
        session.account.queuedBytes >= session.account.quota.queuedBytes || queuedBytes >= quotas.queuedBytes
    }

    /// What is said of a line that was discarded because there is no room to wait for its end.
    public func lineRefusal(_ session: Session) -> BridgeError { tooManyBytes(of: session.account, adding: 1) }

    func hold(_ bytes: Int, for account: UserAccount?) {
        account?.queuedBytes += bytes
        queuedBytes += bytes
    }

    func hasRoom(for bytes: Int, of account: UserAccount) -> Bool {
        account.queuedBytes + bytes <= account.quota.queuedBytes && queuedBytes + bytes <= quotas.queuedBytes
    }

    /// Whether a call's result may wait for its reader. Asked only where the session has much to read already, or the
    /// result is long.
    func hasRoom(forResultOf call: Call, _ resultBytes: Int) -> Bool {
        guard call.origin == .session, call.hasID, let session = call.session, session.takesMessages else {
            return true
        }
        countQueued(session)
        return hasRoom(for: resultBytes, of: session.account)
    }

    /// Why a result that may be long is not made: there is hardly any room left for it. Nil: there is.
    func longResultRefusal(of call: Call) -> BridgeError? {
        guard let account = call.session?.account else { return nil }
        let bytes = min(Self.uncountedBytes, account.quota.queuedBytes / 4)
        return hasRoom(forResultOf: call, bytes) ? nil : resultRefusal(call, bytes)
    }

    func resultRefusal(_ call: Call, _ resultBytes: Int) -> BridgeError {
        guard let account = call.session?.account else {
            return BridgeError(.busy, "there is no room for the result", data: ["started": true], isTransient: true)
        }
        var error = tooManyBytes(of: account, adding: resultBytes)
        var data = error.data?.objectValue ?? [:]
        data["started"] = true
        error.data = .object(data)
        return error
    }

    func tooManyBytes(of account: UserAccount, adding bytes: Int) -> BridgeError {
        let isOwn = account.queuedBytes + bytes > account.quota.queuedBytes || queuedBytes + bytes <= quotas.queuedBytes
        let limit = isOwn ? account.quota.queuedBytes : quotas.queuedBytes
        let whom = isOwn ? account.label : "all users"
        return busy(
            .queuedBytes, limit, of: whom,
            "the daemon holds as much for \(whom) as it may, \(limit) bytes of messages that are unread or unfinished",
            retryAfter: .seconds(1))
    }

    // MARK: Calls

    /// The call's options are held, by the provider that works on it, until it ends.
    func hold(_ bytes: Int, for call: Call) {
        call.record.pointee.heldBytes += bytes
        // The sum goes with the session when it gets another account.
        call.session?.heldCallBytes += bytes
        hold(bytes, for: call.session?.account)
    }

    /// The call ends: nothing is held for it.
    func releaseHeld(_ call: Call) {
        hold(-call.record.pointee.heldBytes, for: call)
    }

    /// The answers of a batch have become more.
    func count(_ batch: RPCBatch, of session: Session) {
        session.batchBytes += batch.answeredBytes - batch.countedBytes
        batch.countedBytes = batch.answeredBytes
        if session.batchBytes > Self.uncountedBytes { countQueued(session) }
    }

    /// The batch's answers have gone to the session's output.
    func forget(_ batch: RPCBatch, of session: Session) {
        session.batchBytes -= batch.countedBytes
        batch.countedBytes = 0
    }
}
