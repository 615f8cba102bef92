import BridgeJSON

// What the daemon holds in memory for clients, counted for each uid and for all: answers and events that wait for their
// reader, lines whose end has not come, options of calls in flight, the newest progress of slow readers, the answers of
// unfinished batches.
extension Quotas {
    /// Counts again what is held for a session. The server calls this where output was left unwritten, and where a line
    /// is long in coming.
    func countQueued(_ session: Session) {
        let bytes = session.queuedBytes + session.heldInputBytes + session.batchBytes
        hold(bytes - session.countedBytes, for: session.account)
        session.countedBytes = bytes
        countUnread(UnreadOutput(bytes: session.queuedBytes, events: session.queuedEvents), of: session)
    }

    /// The session is gone: nothing is held for it.
    func releaseQueued(_ session: Session) {
        hold(-session.countedBytes, for: session.account)
        session.countedBytes = 0
        countUnread(UnreadOutput(), of: session)
    }

    /// Whether more is held for the session's user, or for all, than may be.
    func isOverQuota(_ session: Session) -> Bool {
        session.account.queuedBytes >= session.account.quota.queuedBytes || queuedBytes >= values.queuedBytes
    }

    /// What is said of a line that was discarded because there is no room to wait for its end.
    func lineRefusal(_ session: Session) -> BridgeError { tooManyBytes(of: session.account, adding: 1) }

    func hasRoom(for bytes: Int, of account: UserAccount) -> Bool {
        account.queuedBytes + bytes <= account.quota.queuedBytes && queuedBytes + bytes <= values.queuedBytes
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

    /// Why a result that may be long is not made: its caller has left something unread, and there is hardly any room
    /// left. Nil: it is made. A caller with nothing unread gets the daemon's state even when no room is left: a result
    /// of up to `Session.uncountedBytes` is sent, a longer one is refused after it was made.
    func longResultRefusal(of call: Call) -> BridgeError? {
        guard let session = call.session, session.queuedBytes + session.batchBytes > 0 else { return nil }
        let bytes = min(Session.uncountedBytes, session.account.quota.queuedBytes / 4)
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
        let isOwn = account.queuedBytes + bytes > account.quota.queuedBytes || queuedBytes + bytes <= values.queuedBytes
        let limit = isOwn ? account.quota.queuedBytes : values.queuedBytes
        let whom = isOwn ? account.label : "all users"
        return busy(
            .queuedBytes, limit, of: whom,
            "the daemon holds as much for \(whom) as it may, \(limit) bytes of messages that are unread or unfinished",
            retryAfter: .seconds(1))
    }

    /// The same, for what no user asked for.
    func noRoomForAll() -> BridgeError {
        busy(
            .queuedBytes, values.queuedBytes, of: "all users",
            "the daemon holds as much for all users as it may, \(values.queuedBytes) bytes", retryAfter: .seconds(1))
    }
}
