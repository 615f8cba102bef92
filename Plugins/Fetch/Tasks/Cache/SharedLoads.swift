import HTTPRules
import Synchronization
import TaskKit

/// The loads that several requests for the same URL wait for: one transfer serves all. Any thread.
final class SharedLoads: Sendable {
    /// The maximum time that a request waits for the headers of another request's response.
    static let headTimeout = Duration.seconds(20)
    /// The time in seconds during which requests for a URL load alone after a response could not be shared.
    static let unsharedTime: Int64 = 120
    /// The maximum number of such URLs.
    static let maximumUnshared = 4096

    /// The role of a request.
    enum Turn: Sendable {
        /// The request loads, and notifies the others.
        case lead(SharedLoad)
        /// The request waits for another one.
        case follow(SharedLoad)
        /// The request loads alone.
        case alone
    }

    private struct State {
        var loads: [CacheAddress: SharedLoad] = [:]
        var unshared: [CacheAddress: UnixTime] = [:]
        /// The URLs that are being validated in the background.
        var inBackground: Set<CacheAddress> = []
        /// The bodies that are arriving and will be stored, also those that no other request may share.
        var bodies: [ObjectIdentifier: (uid: UInt32, body: GrowingBody)] = [:]
        /// How often each user has removed stored responses.
        var removals: [UInt32: UInt64] = [:]
    }

    private let state = Mutex(State())

    /// Returns the role of a request for a URL.
    func enter(_ address: CacheAddress, at now: UnixTime) -> Turn {
        state.withLock { state in
            if let load = state.loads[address] { return .follow(load) }
            if let since = state.unshared[address] {
                if now.seconds - since.seconds < Self.unsharedTime, now >= since { return .alone }
                state.unshared[address] = nil
            }
            let load = SharedLoad()
            state.loads[address] = load
            return .lead(load)
        }
    }

    /// Ends a load: no further request begins to wait for it.
    ///
    /// - Parameter outcome: The outcome for the waiting requests, if none was published yet.
    func end(_ load: SharedLoad, of address: CacheAddress, _ outcome: SharedLoad.Outcome = .nothing) {
        state.withLock { state in
            if state.loads[address] === load { state.loads[address] = nil }
        }
        load.publish(outcome)
    }

    /// Makes requests for a URL load alone for a while.
    func noteUnshared(_ address: CacheAddress, at now: UnixTime) {
        state.withLock { state in
            if state.unshared.count >= Self.maximumUnshared {
                state.unshared = state.unshared.filter { now.seconds - $0.value.seconds < Self.unsharedTime }
                if state.unshared.count >= Self.maximumUnshared { state.unshared = [:] }
            }
            state.unshared[address] = now
        }
    }

    /// Begins to validate a URL in the background.
    ///
    /// - Returns: False if a validation is already running.
    func beginInBackground(_ address: CacheAddress) -> Bool {
        state.withLock { $0.inBackground.insert(address).inserted }
    }
    func endInBackground(_ address: CacheAddress) { state.withLock { _ = $0.inBackground.remove(address) } }

    // MARK: Removals

    /// Stops storing the responses that are arriving for a user, and those whose heads have not arrived yet.
    func stopKeeping(of uid: UInt32) {
        let bodies = state.withLock { state in
            state.removals[uid, default: 0] += 1
            return state.bodies.values.filter { $0.uid == uid }.map(\.body)
        }
        for body in bodies { body.stopKeeping() }
    }

    /// Returns how often a user has removed stored responses. A request notes the number before it is sent.
    func removals(of uid: UInt32) -> UInt64 { state.withLock { $0.removals[uid] ?? 0 } }

    /// Begins to receive a body that will be stored.
    ///
    /// - Parameter removals: The number of removals when its request was sent. The body is not stored if there was
    ///   another one.
    func begin(_ body: GrowingBody, of uid: UInt32, since removals: UInt64) {
        let isCurrent = state.withLock { state in
            state.bodies[ObjectIdentifier(body)] = (uid, body)
            return state.removals[uid] ?? 0 == removals
        }
        if !isCurrent { body.stopKeeping() }
    }

    func end(_ body: GrowingBody) { state.withLock { _ = $0.bodies.removeValue(forKey: ObjectIdentifier(body)) } }
}

/// A load that others may wait for. Any thread.
final class SharedLoad: Sendable {
    /// The outcome of a load.
    enum Outcome: Sendable {
        /// A response whose body is arriving.
        case response(SharedResponse)
        /// The server has confirmed the stored response.
        case confirmed
        /// No response that other requests can use.
        case nothing
        /// The load was cancelled before its response arrived.
        case cancelled
    }

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Sends the outcome to the waiting requests. Later outcomes are ignored.
    func publish(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome?, Never>] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    /// Waits for the outcome; returns `nil` if that took too long or the Swift task was cancelled.
    func wait(_ plugin: PluginContext) async -> Outcome? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = plugin.timer(after: SharedLoads.headTimeout) { self.abandon(id) }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiters[id] = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
                // A task that was cancelled before it waited would otherwise wait forever.
                if Task.isCancelled { plugin.post { self.abandon(id) } }
            }
        } onCancel: {
            // Never resume here: the handler runs while the Swift runtime updates the task that this would resume.
            plugin.post { self.abandon(id) }
        }
    }

    private func abandon(_ id: UInt64) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil) }
}

/// A response that several requests read.
struct SharedResponse: Sendable {
    /// The response as it will be stored.
    var stored: StoredResponse
    var head: ResponseHead
    var body: GrowingBody
}
