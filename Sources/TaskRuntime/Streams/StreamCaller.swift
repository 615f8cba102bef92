import BridgeJSON

/// The maker of a call about streams, and the call that it works on. Valid while the call is being handled.
struct StreamCaller {
    let call: Call
    let holder: StreamHolder
    /// The session that calls; `nil` if a plugin calls.
    let session: Session?
    /// The call that the caller works on, if it names one: a plugin makes the call on its behalf, a session names it by
    /// the id under which it received it.
    let worked: Call?

    /// - Throws: `call.not_found` if the session works on no such call; `options.invalid` if a plugin names one.
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

    /// Whether the caller is a plugin that receives no more calls and stops after the work that it has begun.
    var isLeaving: Bool { session == nil && call.record.pointee.extras?.maker?.isLeaving == true }

    /// A function that returns the number of the caller's calls in flight; 0 after the caller has ended.
    var callsInFlight: () -> Int {
        if let session { return { [weak session] in session?.callsInFlight ?? 0 } }
        let plugin = call.record.pointee.extras?.maker
        return { [weak plugin] in plugin?.ownCallsInFlight ?? 0 }
    }

    /// Returns the maker of a call as a holder of streams; `nil` for the daemon.
    static func holder(of call: Call) -> StreamHolder? {
        call.origin == .session ? call.session?.makeStreamHolder() : call.pluginHolder
    }

    private static let nameless = BridgeError(
        JSONMismatch(
            path: "$.call", expected: "none, because a plugin calls on behalf of the call that it works on",
            got: "a number"))

    /// Whether the caller may take the free end. A caller that works on a call has the rights of that call's caller
    /// here, not its own: the stream's name came from that caller.
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
    /// Records a stream that was made for the call and ends if the call fails. A long call may make any number, one
    /// after another: streams that have ended are removed.
    func note(_ name: StreamName, isOpen: (StreamName) -> Bool) {
        if extras.streams.count % 64 == 63 { extras.streams.removeAll { !isOpen($0) } }
        extras.streams.append(name)
    }
}
