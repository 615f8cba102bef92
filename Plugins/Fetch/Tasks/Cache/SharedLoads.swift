import HTTPRules
import Synchronization
import TaskKit

/// Loads that several requests for the same URL wait for: one transfer for all. Any thread.
final class SharedLoads: Sendable {
    /// How long a request waits for the headers of another one's response.
    static let patience = Duration.seconds(20)
    /// How long requests for a URL go alone after a response could not be shared.
    static let unsharedTime: Int64 = 120
    /// How many such URLs are remembered.
    static let maximumUnshared = 4096

    /// What a request does.
    enum Turn: Sendable {
        /// It loads, and notifies the others.
        case lead(SharedLoad)
        /// It waits for another one.
        case follow(SharedLoad)
        /// It loads for itself.
        case alone
    }

    private struct State {
        var loads: [CacheAddress: SharedLoad] = [:]
        var unshared: [CacheAddress: UnixTime] = [:]
        /// URLs that are validated with nobody waiting.
        var behind: Set<CacheAddress> = []
    }

    private let state = Mutex(State())

    /// What a request for a URL does.
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

    /// Nobody begins to wait for a load any more.
    ///
    /// - Parameter outcome: What those learn who wait, where they know nothing yet.
    func end(_ load: SharedLoad, of address: CacheAddress, _ outcome: SharedLoad.Outcome = .nothing) {
        state.withLock { state in
            if state.loads[address] === load { state.loads[address] = nil }
        }
        load.publish(outcome)
    }

    /// Requests for a URL go alone for a while.
    func noteUnshared(_ address: CacheAddress, at now: UnixTime) {
        state.withLock { state in
            if state.unshared.count >= Self.maximumUnshared {
                state.unshared = state.unshared.filter { now.seconds - $0.value.seconds < Self.unsharedTime }
                if state.unshared.count >= Self.maximumUnshared { state.unshared = [:] }
            }
            state.unshared[address] = now
        }
    }

    /// Begins to validate a URL with nobody waiting.
    ///
    /// - Returns: False where that is being done.
    func beginBehind(_ address: CacheAddress) -> Bool { state.withLock { $0.behind.insert(address).inserted } }
    func endBehind(_ address: CacheAddress) { state.withLock { _ = $0.behind.remove(address) } }

    /// What comes for a user is not stored any more.
    func stopKeeping(of uid: UInt32) {
        let loads = state.withLock { $0.loads.filter { $0.key.partition.uid == uid } }
        for load in loads.values { load.stopKeeping() }
    }
}

/// A load that others may wait for. Any thread.
final class SharedLoad: Sendable {
    /// What became of it.
    enum Outcome: Sendable {
        /// A response, whose body is on its way.
        case response(SharedResponse)
        /// What is stored has been confirmed.
        case confirmed
        /// Nothing that others could use.
        case nothing
        /// It was cancelled before its response came.
        case cancelled
    }

    private struct State {
        var outcome: Outcome?
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Sends the outcome to those that wait. Later ones are ignored.
    func publish(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [CheckedContinuation<Outcome?, Never>] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    func stopKeeping() {
        if case .response(let response)? = state.withLock({ $0.outcome }) { response.body.stopKeeping() }
    }

    /// Waits for the outcome; nil: it took too long, or the Swift task was cancelled.
    func wait(_ plugin: PluginContext) async -> Outcome? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let timer = plugin.timer(after: SharedLoads.patience) { self.giveUp(id) }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiters[id] = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
                // What was cancelled before it waited would wait forever.
                if Task.isCancelled { plugin.post { self.giveUp(id) } }
            }
        } onCancel: {
            // Never immediately: the handler runs inside Swift's bookkeeping of the task that this would resume.
            plugin.post { self.giveUp(id) }
        }
    }

    private func giveUp(_ id: UInt64) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: nil) }
}

/// A response that several requests read.
struct SharedResponse: Sendable {
    /// As it will be stored.
    var stored: StoredResponse
    var head: ResponseHead
    var body: GrowingBody
}
