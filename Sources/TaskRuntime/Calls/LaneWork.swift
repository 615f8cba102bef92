import BridgeJSON

// Work on a call beside the loop.
extension CallEngine {
    /// What one piece of work takes besides its text.
    private static var laneWorkBytes: Int { 512 }

    /// Has work be done for a call in the lane. What it holds counts for the call's user until it is back, also where
    /// the call has ended meanwhile: who begins calls and goes cannot have more held.
    ///
    /// - Parameters:
    ///   - bytes: What it holds.
    ///   - done: called once, with nil where the call had ended before the work's turn came. The call may end at any
    ///     time.
    /// - Throws: `busy`, where there is no room for these bytes; nothing has begun then.
    func run<Value: Sendable>(
        in lane: any WorkLane, for call: Call, holding bytes: Int, _ work: @escaping @Sendable () -> Value,
        then done: @escaping (Value?) -> Void
    ) throws(BridgeError) {
        let account = call.session?.account
        let bytes = bytes + Self.laneWorkBytes
        if let account, !quotas.hasRoom(for: bytes, of: account) {
            throw quotas.tooManyBytes(of: account, adding: bytes)
        }
        quotas.hold(bytes, for: account)
        let mark = LaneMark()
        call.extras.laneMark = mark
        let handle = call.handle
        lane.run(for: call.session?.peer.uid ?? rights.policy.daemonUID) {
            mark.isDropped ? nil : work()
        } then: { [self] (value: Value?) in
            quotas.hold(-bytes, for: account)
            if let call = self.call(handle) { call.extras.laneMark = nil }
            done(value)
        }
    }
}
