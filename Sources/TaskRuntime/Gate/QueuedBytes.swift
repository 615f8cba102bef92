import BridgeJSON

// The memory that the daemon holds for clients, counted for each account and for all: answers and events that wait for
// their reader, incomplete lines, options of calls in flight, the newest progress of slow readers, the answers of
// unfinished batches, the windows of streams, and work in the lane.
extension Quotas {
    /// Counts the bytes that are held for a session again. The server calls this if output was not written completely,
    /// and if a line takes long to arrive.
    func countQueued(_ session: Session) {
        let bytes = session.queuedBytes + session.heldInputBytes + session.batchBytes
        hold(bytes - session.countedBytes, for: session.account)
        session.countedBytes = bytes
        countUnread(UnreadOutput(bytes: session.queuedBytes, events: session.queuedEvents), of: session)
    }

    /// Stops counting the bytes of a session that has ended.
    func releaseQueued(_ session: Session) {
        hold(-session.countedBytes, for: session.account)
        session.countedBytes = 0
        countUnread(UnreadOutput(), of: session)
    }

    /// Returns whether the bytes held for the session's user, or for all users, reach the quota.
    func isOverQuota(_ session: Session) -> Bool {
        session.account.queuedBytes >= session.account.quota.queuedBytes || queuedBytes >= values.queuedBytes
    }

    /// Returns the error for a line that was discarded because there is no room to wait for its end.
    func lineRefusal(_ session: Session) -> BridgeError { tooManyBytes(of: session.account, adding: 1) }

    func hasRoom(for bytes: Int, of account: UserAccount) -> Bool {
        account.queuedBytes + bytes <= account.quota.queuedBytes && queuedBytes + bytes <= values.queuedBytes
    }

    /// Returns whether there is room for a call's result until the client reads it. Called only if the session has much
    /// unread output, or the result is long.
    func hasRoom(forResultOf call: Call, _ resultBytes: Int) -> Bool {
        guard call.origin == .session, call.hasID, let session = call.session, session.takesMessages else {
            return true
        }
        countQueued(session)
        return hasRoom(for: resultBytes, of: session.account)
    }

    /// Returns why a result that may be long is not made: its caller has unread output, and there is hardly any room
    /// left; `nil` if it is made. A caller without unread output gets the daemon's state even if no room is left: a
    /// result of up to `Session.uncountedBytes` is sent, a longer one is refused after it was made.
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
            "the daemon holds \(limit) bytes of unread or unfinished messages of \(whom), the maximum",
            retryAfter: .seconds(1))
    }

    /// Returns the same error for memory that no user requested.
    func noRoomForAll() -> BridgeError {
        busy(
            .queuedBytes, values.queuedBytes, of: "all users",
            "the daemon holds \(values.queuedBytes) bytes of messages of all users, the maximum",
            retryAfter: .seconds(1))
    }
}
