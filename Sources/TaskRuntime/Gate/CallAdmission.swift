import BridgeJSON
import BridgeMessage

// The quota checks for calls. They run before a call begins: a refused call has not begun and gets an error with an
// explanation. Only the check for a session that moves to another account concerns calls in flight.
extension Quotas {
    /// The length from which options are counted while their call is in flight. Shorter options are part of the fixed
    /// cost of a call.
    static var countedOptionsBytes: Int { 1_024 }

    /// Checks that the session may make one more call of the task. An admitted call counts against the rates.
    @inline(__always)
    func admit(
        _ message: UnsafePointer<CallMessage>, of task: Unmanaged<TaskEntry>, by session: Session
    ) throws(BridgeError) {
        guard session.callsInFlight < limits.callsInFlight else {
            if task._withUnsafeGuaranteedRef({ $0.stream != nil }) { return }
            throw tooManyInFlight(of: session)
        }
        let isAtBound = session.unownedAccount._withUnsafeGuaranteedRef {
            $0.callsInFlight >= $0.maximumCallsInFlight || $0.unfinished.isFull
        }
        if isAtBound || hasPaces || task._withUnsafeGuaranteedRef({ $0.isMetered })
            || message.pointee.options.count >= Self.countedOptionsBytes
        {
            try checkAll(message.pointee.options.count, of: task.takeUnretainedValue(), by: session)
        }
    }

    private func tooManyInFlight(of session: Session) -> BridgeError {
        busy(
            .callsInFlight, limits.callsInFlight, of: "session \(session.number)",
            "the session has \(limits.callsInFlight) calls in flight, the maximum", retryAfter: Self.someEndSoon)
    }

    /// The suggested delay before a retry. The time when calls in flight end is unknown; many take about as long as
    /// this.
    private static var someEndSoon: Duration { .milliseconds(100) }

    private func checkAll(_ optionsBytes: Int, of task: TaskEntry, by session: Session) throws(BridgeError) {
        if task.stream != nil { return }
        let account = session.account
        guard account.callsInFlight < account.maximumCallsInFlight else {
            throw tooManyInFlight(account.maximumCallsInFlight, of: account.label)
        }
        if account.unfinished.isFull { try checkUnfinished(in: task, of: account) }
        if optionsBytes >= Self.countedOptionsBytes, !hasRoom(for: optionsBytes, of: account) {
            throw tooManyBytes(of: account, adding: optionsBytes)
        }
        try checkInFlight(task)
        var gates = RateGates(now: time.callTime.nanoseconds)
        gates.look(sessionPace, session.rate, "session \(session.number)")
        gates.look(account.pace, account.rate, account.label)
        gates.look(task.meters)
        if let closed = gates.closed { throw tooOften(closed) }
        if let sessionPace { session.rate.take(sessionPace, now: gates.now) }
        if let pace = account.pace { account.rate.take(pace, now: gates.now) }
        take(task.meters, now: gates.now)
    }

    /// Checks the calls that have ended while the plugin still works on them. Without this limit a plugin could get
    /// more calls than it can process.
    private func checkUnfinished(in task: TaskEntry, of account: UserAccount) throws(BridgeError) {
        guard let plugin = task.provider.queue, let limit = account.unfinished.limit(reachedIn: plugin.number) else {
            return
        }
        plugin.noteCrowding()
        throw busy(
            .unfinishedCalls, limit, of: account.label,
            "the plugin \(plugin.name) still works on \(limit) calls of \(account.label) that have ended",
            retryAfter: Self.someEndSoon)
    }

    /// Checks a call that a plugin makes: the quotas of the task, and the number of calls that the plugin may have in
    /// flight.
    func admit(callOf task: TaskEntry, by plugin: any QueueingProvider) throws(BridgeError) {
        if task.stream != nil { return }
        guard plugin.ownCallsInFlight < values.pluginCallsInFlight else {
            throw tooManyInFlight(values.pluginCallsInFlight, of: "plugin \(plugin.name)")
        }
        guard task.isMetered else { return }
        try checkInFlight(task)
        var gates = RateGates(now: clock.now.nanoseconds)
        gates.look(task.meters)
        if let closed = gates.closed { throw tooOften(closed) }
        take(task.meters, now: gates.now)
    }

    /// Checks that an account has room for a session.
    ///
    /// - Throws: `busy` if the account has no room for the session's calls in flight, or for the bytes held for it.
    func checkCalls(of session: Session, on account: UserAccount) throws(BridgeError) {
        guard account.callsInFlight + session.callsInFlight <= account.maximumCallsInFlight else {
            throw tooManyInFlight(account.maximumCallsInFlight, of: account.label)
        }
        let bytes = session.queuedBytesTaken
        guard bytes == 0 || account.queuedBytes + bytes <= account.quota.queuedBytes else {
            throw tooManyBytes(of: account, adding: bytes)
        }
    }

    private func take(_ meters: TaskMeters?, now: UInt64) {
        for meter in [meters?.task, meters?.plugin] {
            if let meter, let pace = meter.pace { meter.rate.take(pace, now: now) }
        }
    }

    private func checkInFlight(_ task: TaskEntry) throws(BridgeError) {
        guard let meters = task.meters else { return }
        if let meter = meters.task, meter.quota.callsInFlight > 0, task.statistics.inFlight >= meter.quota.callsInFlight
        {
            throw tooManyInFlight(meter.quota.callsInFlight, of: meter.label)
        }
        if let meter = meters.plugin, meter.quota.callsInFlight > 0, let plugin = task.provider.queue,
            plugin.taskCallsInFlight >= meter.quota.callsInFlight
        {
            throw tooManyInFlight(meter.quota.callsInFlight, of: meter.label)
        }
    }

    private func tooManyInFlight(_ limit: Int, of whom: String) -> BridgeError {
        busy(
            .callsInFlight, limit, of: whom, "\(whom) has \(limit) calls in flight, the maximum",
            retryAfter: Self.someEndSoon)
    }

    private func tooOften(_ gate: RateGates.Closed) -> BridgeError {
        busy(
            .callsPerSecond, gate.callsPerSecond, of: gate.label,
            "\(gate.label) has begun \(gate.callsPerSecond) calls within a second, the maximum",
            retryAfter: .nanoseconds(Int64(clamping: gate.nanoseconds)))
    }
}

/// Checks that every rate that a call counts against has a token, before any token is taken.
private struct RateGates {
    struct Closed {
        var nanoseconds: UInt64
        var callsPerSecond: Int
        var label: String
    }

    let now: UInt64
    /// The rate with the longest wait; `nil` if all have a token.
    private(set) var closed: Closed?

    init(now: UInt64) { self.now = now }

    mutating func look(_ pace: CallPace?, _ rate: CallRate, _ label: @autoclosure () -> String) {
        guard let pace else { return }
        let wait = rate.nanosecondsToToken(pace, now: now)
        guard wait > closed?.nanoseconds ?? 0 else { return }
        closed = Closed(nanoseconds: wait, callsPerSecond: pace.callsPerSecond, label: label())
    }

    mutating func look(_ meters: TaskMeters?) {
        for meter in [meters?.task, meters?.plugin] {
            if let meter { look(meter.pace, meter.rate, meter.label) }
        }
    }
}
