import HTTPRules
import Synchronization
import TaskKit

/// The state that the hops of one fetch share. Any thread.
final class HopChain: Sendable {
    /// The maximum size of ``trace`` in bytes. The trace is part of a result.
    static let maximumTraceBytes = 128 << 10

    private struct State {
        var count = 0
        var trace: [JSON] = []
        var traceBytes = 0
        var omitted = 0
        var properties: JSON?
        var trail = PageTrail()
    }

    private let state = Mutex(State())

    /// Returns the number of the next hop, starting at 1.
    func nextNumber() -> Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    /// The requests and responses, hop by hop, and the number of hops that did not fit.
    var trace: (entries: [JSON], omitted: Int) { state.withLock { ($0.trace, $0.omitted) } }

    func note(_ entry: JSON) {
        let count = entry.text.utf8.count
        state.withLock { state in
            guard state.traceBytes + count <= Self.maximumTraceBytes else {
                state.omitted += 1
                return
            }
            state.traceBytes += count
            state.trace.append(entry)
        }
    }

    /// Adds a step to the trail of a page's request, and returns the trail.
    func step(to origin: WebOrigin, from page: WebOrigin?, _ reach: Reach) -> PageTrail {
        state.withLock { state in
            state.trail.step(to: origin, from: page, reach)
            return state.trail
        }
    }

    /// The properties that interceptors pass to the interceptors of the next hop.
    var properties: JSON? {
        get { state.withLock { $0.properties } }
        set { state.withLock { $0.properties = newValue } }
    }
}

/// A hop that is passing through the runtime. Any thread.
final class PendingHop: Sendable {
    /// The result of the following stages.
    struct Outcome: Sendable {
        /// The URL that was loaded.
        var url: WebURL
        /// The response; `nil` if the answer contains it.
        var response: HopResponse?
    }

    let hop: Hop
    let context: LoadContext
    /// The following stages.
    let next: HopWay
    /// The body as interceptors receive it.
    let shownBody: JSON?
    private let state = Mutex(Outcome?.none)

    init(_ hop: Hop, _ context: LoadContext, _ next: HopWay, shownBody: JSON?) {
        (self.hop, self.context, self.next, self.shownBody) = (hop, context, next, shownBody)
    }

    /// `nil` if an interceptor has answered and nothing was loaded.
    var outcome: Outcome? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The hops that are passing through the runtime as calls of `http.load`. Any thread.
final class PendingHops: Sendable {
    private let hops = Mutex<[String: PendingHop]>([:])

    /// Adds a hop.
    ///
    /// - Returns: The hop's ID in its call, a text that no caller can guess.
    func add(_ hop: PendingHop) -> String {
        hops.withLock { hops in
            var id: String
            repeat { id = String(UInt64.random(in: .min ... .max), radix: 36) } while hops[id] != nil
            hops[id] = hop
            return id
        }
    }

    func remove(_ id: String) { hops.withLock { _ = $0.removeValue(forKey: id) } }

    /// Returns the hop with this ID; `nil` if there is none or its call belongs to another session.
    func hop(_ id: String, of session: SessionID) -> PendingHop? {
        hops.withLock { $0[id] }.flatMap { $0.context.call.caller.session == session ? $0 : nil }
    }
}
