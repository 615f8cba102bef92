import HTTPRules
import TaskKit

/// A call that waits for the store.
protocol CookieCall: AnyObject, Sendable {
    /// The user whose turn the call takes.
    var uid: UInt32 { get }
    /// Whether the caller no longer waits for the answer.
    var isCancelled: Bool { get }
    /// The length of the options that wait in memory with the call.
    var sizeBytes: Int { get }

    /// Performs the work on the store's thread. If it throws, it has changed nothing.
    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome

    /// Receives the outcome once; for a write, after it is on the disk.
    func answer(_ outcome: Result<[UInt8], BridgeError>)
}

extension CookieCall {
    var sizeBytes: Int { 0 }
}

/// The outcome of a call's work.
struct CookieOutcome: Sendable {
    /// The result as JSON.
    var result: [UInt8]
    /// The profile of the call; `nil` if there is none.
    var profile: ProfileID?
    /// The listener that receives changes from the answer on; `nil` if none begins.
    var begins: Listener?
    /// The rest of the work, which does not block the store, and whose result is the answer; `nil` if the work is
    /// complete.
    var rest: (@Sendable (Call) async throws(BridgeError) -> JSON)?

    init(_ result: JSON, of profile: ProfileID? = nil, begins: Listener? = nil) {
        var bytes: [UInt8] = []
        result.write(to: &bytes)
        (self.result, self.profile, self.begins) = (bytes, profile, begins)
    }

    /// Creates the outcome of a call whose work continues after the store's part.
    ///
    /// - Parameters:
    ///   - profile: The profile of the call.
    ///   - rest: The remaining work.
    init(of profile: ProfileID, rest: @escaping @Sendable (Call) async throws(BridgeError) -> JSON) {
        (result, self.profile, self.rest) = ([], profile, rest)
    }
}

/// The receiver of events and of requests for delayed calls.
protocol CookieSink: Sendable {
    /// Sends an event to sessions, subscribed or not.
    func publish(_ event: JSON, to sessions: [SessionID])

    /// Requests a call of `CookieEngine.endLingering` after that time.
    func endLingering(after delay: Duration)

    /// Requests a call of `CookieEngine.tidy` after some time.
    func tidySoon()
}

/// The store and the listeners that receive its changes. Performs calls that arrived together in one commit.
///
/// Used by one thread at a time.
struct CookieEngine: Sendable {
    var store: CookieStore
    var listeners = Listeners()
    let suffixes: PublicSuffixList
    private let sink: any CookieSink
    private let monotonic: @Sendable () -> Duration
    private var metrics: CookiesMetrics
    /// The profiles whose last container was detached, and the times when their session cookies end.
    private var lingering: [ProfileID: Duration] = [:]
    /// Whether a call of `endLingering` is requested.
    private var isEndRequested = false
    /// The sessions that use profiles which are kept only in memory.
    private var users: [ProfileID: Set<SessionID>] = [:]
    private var isTidying = false

    init(
        store: CookieStore, suffixes: PublicSuffixList, sink: any CookieSink, metrics: CookiesMetrics,
        monotonic: @escaping @Sendable () -> Duration
    ) throws(BridgeError) {
        self.store = store
        self.suffixes = suffixes
        self.sink = sink
        self.metrics = metrics
        self.monotonic = monotonic
        for profile in try self.store.attended() { linger(profile) }
    }

    // MARK: Calls

    /// Performs calls, and answers them after their changes are on the disk.
    mutating func carryOut(_ calls: [any CookieCall]) {
        var done: [Done] = []
        for call in calls { done.append(perform(call)) }
        var failed: Set<ProfileID> = []
        var failure = BridgeError.storeNotOpen
        if store.hasPending {
            do throws(BridgeError) {
                try store.commit()
                metrics.commits.add()
            } catch {
                failure = error
                failed = store.abandon()
            }
        }
        for one in done {
            if let profile = one.outcome?.profile, failed.contains(profile) {
                one.call.answer(.failure(failure))
            } else {
                settle(one)
            }
        }
        listeners.endReservations()
        metrics.note(cookies: store.loadedCookies, watches: listeners.count)
        if !isTidying, store.isUntidy {
            isTidying = true
            sink.tidySoon()
        }
    }

    /// A call whose work is done.
    private struct Done {
        var call: any CookieCall
        var outcome: CookieOutcome?
        var error: BridgeError?
        var changes: [ProfileChanges] = []
    }

    private mutating func perform(_ call: any CookieCall) -> Done {
        if call.isCancelled {
            let error = BridgeError(.callCancelled, "the call was cancelled", data: ["started": false])
            return Done(call: call, error: error)
        }
        let before = store.pending.count
        do throws(BridgeError) {
            let outcome = try call.perform(&self)
            let changes = Array(store.pending[before...])
            for profile in changes.map(\.profile) where isAttended(profile) { store.attend(profile, true) }
            return Done(call: call, outcome: outcome, changes: changes)
        } catch {
            return Done(call: call, error: error, changes: Array(store.pending[before...]))
        }
    }

    /// Returns whether the profile has a container, or its last one has left and its session cookies have not ended. A
    /// profile that does not exist yet can be in this state.
    private func isAttended(_ profile: ProfileID) -> Bool {
        lingering[profile] != nil || listeners.willHaveReplica(profile)
    }

    /// Sends the changes before the answer, so that a session that calls the daemon after the answer has already
    /// received the event.
    private mutating func settle(_ done: Done) {
        for changes in done.changes { send(changes) }
        if let error = done.error {
            done.call.answer(.failure(error))
        } else if let outcome = done.outcome {
            done.call.answer(.success(outcome.result))
        }
        guard let begun = done.outcome?.begins, listeners.addReserved(begun) else { return }
        if begun.replica != nil { lingering[begun.profile] = nil }
    }

    private mutating func send(_ changes: ProfileChanges) {
        metrics.changes.add(changes.changes.count)
        let now = store.now
        for listener in listeners.all(of: changes.profile) {
            let news = changes.changes.filter { change in
                change.version > listener.from && !(changes.writer == listener.session && changes.matches(change))
            }
            for event in CookiesChanged.events(news, of: changes.profile, for: listener.view, at: now) {
                sink.publish(event, to: [listener.session])
            }
        }
    }

    /// Writes the times of use of cookies.
    mutating func tidy() {
        isTidying = false
        try? store.tidy()
    }

    // MARK: Sessions

    /// Continues a listener that existed before this store was opened.
    mutating func begin(_ listener: Listener, missed: [CookieChange], at now: UnixTime) throws(BridgeError) {
        try listeners.add(listener)
        if listener.replica != nil { lingering[listener.profile] = nil }
        for event in CookiesChanged.events(missed, of: listener.profile, for: listener.view, at: now) {
            sink.publish(event, to: [listener.session])
        }
    }

    /// Records that a session uses a profile. A profile in memory ends with the last session that uses it.
    mutating func note(_ session: SessionID, uses profile: ProfileID) {
        if profile.isPrivate { users[profile, default: []].insert(session) }
    }

    /// Removes a closed session.
    mutating func sessionClosed(_ session: SessionID) {
        for profile in listeners.remove(session) where !listeners.hasReplica(profile) { linger(profile) }
        for profile in users.keys {
            guard users[profile]?.remove(session) != nil, users[profile]?.isEmpty == true else { continue }
            users[profile] = nil
            lingering[profile] = nil
            store.drop(profile)
        }
    }

    mutating func linger(_ profile: ProfileID) {
        guard !profile.isPrivate else { return }
        lingering[profile] = monotonic() + store.settings.sessionLinger
        requestEnd()
    }

    /// Requests the call of `endLingering` for the profile that ends first. One request at a time is sufficient: all
    /// profiles linger equally long, so that later ones end later.
    private mutating func requestEnd() {
        guard !isEndRequested, let first = lingering.values.min() else { return }
        isEndRequested = true
        sink.endLingering(after: max(.zero, first - monotonic()))
    }

    /// Removes the session cookies of profiles whose last container was detached long enough ago.
    mutating func endLingering() {
        isEndRequested = false
        let now = monotonic()
        let over = lingering.filter { $0.value <= now }.keys
        for profile in over {
            lingering[profile] = nil
            if !listeners.hasReplica(profile) { carryOut([LingerEnd(profile)]) }
        }
        requestEnd()
    }

    /// Writes the remaining changes, and closes the file.
    mutating func close() { store.close() }
}

/// A call that removes the session cookies of a profile.
private final class LingerEnd: CookieCall {
    let profile: ProfileID
    var uid: UInt32 { profile.uid }
    var isCancelled: Bool { false }

    init(_ profile: ProfileID) { self.profile = profile }

    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome {
        try engine.store.endSession(of: profile)
        return CookieOutcome([:], of: profile)
    }

    func answer(_ outcome: Result<[UInt8], BridgeError>) {}
}

extension ProfileChanges {
    /// Returns whether the result of a change equals what its writer wrote.
    func matches(_ change: CookieChange) -> Bool {
        guard let own = written[change.key] else { return false }
        switch change.kind {
        case .set(let cookie):
            guard var own else { return false }
            // A container does not decide about these, see ``Applying``.
            (own.persist, own.pin, own.sourceSecure) = (cookie.persist, cookie.pin, cookie.sourceSecure)
            return own.isSame(as: cookie)
        case .removed: return own == nil
        }
    }
}
