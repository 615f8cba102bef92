import BridgeMessage

/// A session's calls in flight, found by the id that the session gave them.
///
/// Only calls that outlive the turn in which they came are entered. Ids whose hashes collide are chained through the
/// calls themselves; a client that makes them collide slows down nobody but itself, within its own bound of calls.
struct CallIndex {
    private var first: [UInt64: Call] = [:]

    /// How many calls are entered.
    private(set) var count = 0

    /// The call of this id.
    func call(of id: CallbackID) -> Call? {
        guard count > 0 else { return nil }
        var call = first[id.hash]
        while let candidate = call {
            if candidate.hasSameID(as: id) { return candidate }
            call = candidate.nextOfSameHash
        }
        return nil
    }

    mutating func insert(_ call: Call) {
        call.nextOfSameHash = first.updateValue(call, forKey: call.idHash)
        call.isIndexed = true
        count += 1
    }

    mutating func remove(_ call: Call) {
        guard call.isIndexed else { return }
        call.isIndexed = false
        count -= 1
        if first[call.idHash] === call {
            first[call.idHash] = call.nextOfSameHash
        } else {
            var previous = first[call.idHash]
            while let link = previous, link.nextOfSameHash !== call { previous = link.nextOfSameHash }
            previous?.nextOfSameHash = call.nextOfSameHash
        }
        call.nextOfSameHash = nil
    }
}
