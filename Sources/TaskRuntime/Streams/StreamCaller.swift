import BridgeJSON

/// Who makes a call about streams, and on which call they work. As long as the call is looked at.
struct StreamCaller {
    let call: Call
    let holder: StreamHolder
    /// Nil: a plugin calls.
    let session: Session?
    /// The call that they work on, where they said so: a plugin calls on behalf of it, a session names it by the id
    /// under which it was given the call.
    let worked: Call?

    /// - Throws: `call.not_found`, where the session works on no such call; `options.invalid`, where a plugin names
    ///   one.
    init(_ call: Call, workingOn id: UInt64?, _ calls: CallEngine) throws(BridgeError) {
        self.call = call
        session = call.origin == .session ? call.session : nil
        guard let holder = Self.holder(of: call) else {
            throw BridgeError(.sessionMissing, "streams are held by sessions and plugins")
        }
        self.holder = holder
        guard let session else {
            guard id == nil else { throw Self.nameless }
            worked = call.parent.flatMap { calls.call($0) }
            return
        }
        worked = id.flatMap { calls.call($0, of: session) }
        guard id == nil || worked != nil else {
            throw BridgeError(.callNotFound, "this session works on no call with the id \(id ?? 0)")
        }
    }

    /// Whether a plugin calls that gets no more calls, and is to stop when it has done what it has begun.
    var isLeaving: Bool { session == nil && call.record.pointee.extras?.maker?.isLeaving == true }

    /// How many calls of theirs are in flight, as long as they are there.
    var callsInFlight: () -> Int {
        if let session { return { [weak session] in session?.callsInFlight ?? 0 } }
        let plugin = call.record.pointee.extras?.maker
        return { [weak plugin] in plugin?.ownCallsInFlight ?? 0 }
    }

    /// Who made a call, as a holder of streams; nil: the daemon.
    static func holder(of call: Call) -> StreamHolder? {
        call.origin == .session ? call.session?.makeStreamHolder() : call.pluginHolder
    }

    private static let nameless = BridgeError(
        JSONMismatch(
            path: "$.call", expected: "none, because a plugin calls on behalf of the call that it works on",
            got: "a number"))

    /// Whether they may take the end that is free. Who works on a call may as far as its caller may, and not for
    /// themselves: the name came from that caller.
    func mayTake(_ takers: OpenStream.Takers, _ calls: CallEngine) -> Bool {
        guard let worked else {
            if holder === takers.rootMaker { return true }
            return takers.owner != nil && session?.owner == takers.owner
        }
        if let root = takers.root { return worked.rootNumber == root }
        return calls.call(numbered: worked.rootNumber).flatMap(Self.holder) === takers.rootMaker
    }
}

extension Call {
    /// A stream was made for the call, and ends where it fails. A call that lasts may make any number, one after the
    /// other: those that are over are forgotten.
    func note(_ name: StreamName, isOpen: (StreamName) -> Bool) {
        if extras.streams.count % 64 == 63 { extras.streams.removeAll { !isOpen($0) } }
        extras.streams.append(name)
    }
}
