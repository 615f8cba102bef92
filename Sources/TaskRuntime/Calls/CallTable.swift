import BridgeJSON
import BridgeMessage

/// Every call in flight. The only place where a call ends, and so the place that keeps the law of the bridge: one
/// terminal callback for each call, never none, never two.
///
/// A call is entered by ``begin(_:)`` and leaves by ``remove(_:)``, which can happen once: whoever holds the handle of a
/// call that has left gets nil for it, and drops what it wanted to say. Loop thread only.
final class CallTable {
    private var calls: [Call] = []
    private var free: [Int] = []
    private var lastNumber: UInt64 = 0
    private(set) var deadlines = DeadlineHeap()

    /// How many calls are in flight.
    private(set) var count = 0

    /// Enters a call.
    func begin(_ request: Call.Request) -> Call {
        let call: Call
        if let slot = free.popLast() {
            call = calls[slot]
        } else {
            call = Call(slot: calls.count)
            calls.append(call)
        }
        lastNumber += 1
        count += 1
        call.begin(request, number: lastNumber)
        return call
    }

    /// The call of a handle, while it is in flight.
    func call(_ handle: CallHandle) -> Call? {
        let slot = handle.slot
        guard slot < calls.count else { return nil }
        let call = calls[slot]
        return call.state != .free && call.handle == handle ? call : nil
    }

    /// A call that did not end in the turn in which it came: from now on its deadline counts.
    func park(_ call: Call) {
        if call.deadline != nil, call.heapIndex < 0 { deadlines.insert(call) }
    }

    /// Takes a call out for good: from here on no handle leads to it. Whoever calls this tells the caller of the end,
    /// and then gives the call back with ``release(_:)``.
    func remove(_ call: Call) {
        precondition(call.state != .free, "a call ends once")
        call.state = .free
        deadlines.remove(call)
        count -= 1
    }

    /// Gives a removed call back to the stock.
    func release(_ call: Call) {
        call.release()
        free.append(call.slot)
    }

    /// The earliest call whose deadline has come.
    func popExpired(at now: RuntimeInstant) -> Call? { deadlines.popExpired(at: now) }

    /// All calls in flight, the oldest first.
    var inFlight: [Call] { calls.filter { $0.state != .free }.sorted { $0.number < $1.number } }
}
