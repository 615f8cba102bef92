import HTTPRules
import Synchronization
import TaskKit

/// What the hops of one fetch have in common, and what changes from hop to hop. Any thread.
final class HopChain: Sendable {
    /// Bytes of ``trace``, which is a part of a result.
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

    /// The number of the next hop, from 1.
    func nextNumber() -> Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    /// What was asked and answered, hop by hop, and how many hops there was no room for.
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

    /// The way of a page's request, with one step more.
    func step(to origin: WebOrigin, from page: WebOrigin?, _ reach: Reach) -> PageTrail {
        state.withLock { state in
            state.trail.step(to: origin, from: page, reach)
            return state.trail
        }
    }

    /// What interceptors have left for those that see the next hop.
    var properties: JSON? {
        get { state.withLock { $0.properties } }
        set { state.withLock { $0.properties = newValue } }
    }
}

/// A hop on its way through the runtime. Any thread.
final class PendingHop: Sendable {
    /// What the stages behind have made of it.
    struct Outcome: Sendable {
        /// The URL that was loaded.
        var url: WebURL
        /// The response, where it is not a part of the answer.
        var response: HopResponse?
    }

    let hop: Hop
    let context: LoadContext
    /// The stages that follow.
    let next: HopWay
    /// The body as interceptors see it.
    let shownBody: JSON?
    private let state = Mutex(Outcome?.none)

    init(_ hop: Hop, _ context: LoadContext, _ next: HopWay, shownBody: JSON?) {
        (self.hop, self.context, self.next, self.shownBody) = (hop, context, next, shownBody)
    }

    /// Nil: an interceptor has answered, and nothing was loaded.
    var outcome: Outcome? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The hops that are on their way through the runtime, as calls of `http.load`. Any thread.
final class PendingHops: Sendable {
    private let hops = Mutex<[String: PendingHop]>([:])

    /// Enters a hop.
    ///
    /// - Returns: What its call names it by: a text that no caller can guess.
    func add(_ hop: PendingHop) -> String {
        hops.withLock { hops in
            var id: String
            repeat { id = String(UInt64.random(in: .min ... .max), radix: 36) } while hops[id] != nil
            hops[id] = hop
            return id
        }
    }

    func remove(_ id: String) { hops.withLock { _ = $0.removeValue(forKey: id) } }

    /// The hop of a call that a session makes.
    func hop(_ id: String, of session: SessionID) -> PendingHop? {
        hops.withLock { $0[id] }.flatMap { $0.context.call.caller.session == session ? $0 : nil }
    }
}
