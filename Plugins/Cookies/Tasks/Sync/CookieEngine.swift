import HTTPRules
import TaskKit

/// A call that waits for the store.
protocol CookieCall: AnyObject, Sendable {
    /// Whose turn it takes.
    var uid: UInt32 { get }
    /// Whether no one waits for the answer any longer.
    var isCancelled: Bool { get }

    /// The work, on the store's thread. Where it throws, it has changed nothing.
    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome

    /// Gets the outcome, once; of a write, when it is on the disk.
    func answer(_ outcome: Result<[UInt8], BridgeError>)
}

/// What a call's work has come to.
struct CookieOutcome: Sendable {
    /// As JSON.
    var result: [UInt8]
    /// The profile that it is about; nil: none.
    var profile: ProfileID?
    /// The session is sent changes from its answer on.
    var begins: Listener?
    /// The rest of the work, which does not hold up the store, and whose result is the answer; nil: that is all.
    var rest: (@Sendable (Call) async throws(BridgeError) -> JSON)?

    init(_ result: JSON, of profile: ProfileID? = nil, begins: Listener? = nil) {
        var bytes: [UInt8] = []
        result.write(to: &bytes)
        (self.result, self.profile, self.begins) = (bytes, profile, begins)
    }

    /// - Parameters:
    ///   - profile: The profile that it is about.
    ///   - rest: The work that is left.
    init(of profile: ProfileID, rest: @escaping @Sendable (Call) async throws(BridgeError) -> JSON) {
        (result, self.profile, self.rest) = ([], profile, rest)
    }
}

/// Where events go.
protocol CookieSink: Sendable {
    /// Sends an event to sessions, subscribed or not.
    func publish(_ event: JSON, to sessions: [SessionID])

    /// Asks for `CookieEngine.endLingering` after that time.
    func endLingering(after delay: Duration)

    /// Asks for `CookieEngine.tidy` after some time.
    func tidySoon()
}

/// The store, and those who are sent its changes: carries out calls that came together, in one commit.
///
/// Used by one thread at a time.
struct CookieEngine: Sendable {
    var store: CookieStore
    var listeners = Listeners()
    let suffixes: PublicSuffixList
    private let sink: any CookieSink
    private let monotonic: @Sendable () -> Duration
    private var metrics: CookiesMetrics
    /// Profiles whose last container has gone, and when their sessions' cookies end.
    private var lingering: [ProfileID: Duration] = [:]
    /// The sessions that use profiles which are kept in memory only.
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

    /// Carries out calls and answers them, when what they changed is on the disk.
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
            return Done(call: call, outcome: outcome, changes: Array(store.pending[before...]))
        } catch {
            return Done(call: call, error: error, changes: Array(store.pending[before...]))
        }
    }

    /// What changed is sent before the answer: who asks the daemon behind it has had the event.
    private mutating func settle(_ done: Done) {
        for changes in done.changes { send(changes) }
        if let error = done.error {
            done.call.answer(.failure(error))
        } else if let outcome = done.outcome {
            done.call.answer(.success(outcome.result))
        }
        guard let begun = done.outcome?.begins else { return }
        // It was checked when the work was done; another of the same session may have come since.
        try? listeners.add(begun)
        if begun.replica != nil { lingering[begun.profile] = nil }
    }

    private mutating func send(_ changes: ProfileChanges) {
        metrics.changes.add(changes.changes.count)
        let now = store.now
        for listener in listeners.all(of: changes.profile) {
            let news = changes.changes.filter { change in
                change.version > listener.from && !(changes.writer == listener.session && changes.says(change))
            }
            for event in CookiesChanged.events(news, of: changes.profile, for: listener.view, at: now) {
                sink.publish(event, to: [listener.session])
            }
        }
    }

    /// Writes when cookies were used.
    mutating func tidy() {
        isTidying = false
        try? store.tidy()
    }

    // MARK: Sessions

    /// Goes on with what a session was sent before this store was opened.
    mutating func begin(_ listener: Listener, missed: [CookieChange], at now: UnixTime) throws(BridgeError) {
        try listeners.add(listener)
        if listener.replica != nil { lingering[listener.profile] = nil }
        for event in CookiesChanged.events(missed, of: listener.profile, for: listener.view, at: now) {
            sink.publish(event, to: [listener.session])
        }
    }

    /// Notes that a session uses a profile: one in memory ends with the last of them.
    mutating func note(_ session: SessionID, uses profile: ProfileID) {
        if profile.isPrivate { users[profile, default: []].insert(session) }
    }

    /// A session has closed.
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
        sink.endLingering(after: store.settings.sessionLinger)
    }

    /// Ends the cookies of sessions of profiles whose last container has been gone for long enough.
    mutating func endLingering() {
        let now = monotonic()
        let over = lingering.filter { $0.value <= now }.keys
        for profile in over {
            lingering[profile] = nil
            if !listeners.hasReplica(profile) { carryOut([LingerEnd(profile)]) }
        }
    }

    /// Writes what is left, and closes the file.
    mutating func close() { store.close() }
}

/// The end of the cookies of a profile's sessions.
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
    /// Whether a change is just what its writer has said.
    func says(_ change: CookieChange) -> Bool {
        guard let said = written[change.key] else { return false }
        switch change.kind {
        case .set(let cookie):
            guard var said else { return false }
            // These are not a container's to say, see ``Applying``.
            (said.persist, said.pin, said.sourceSecure) = (cookie.persist, cookie.pin, cookie.sourceSecure)
            return said.isSame(as: cookie)
        case .removed: return said == nil
        }
    }
}
