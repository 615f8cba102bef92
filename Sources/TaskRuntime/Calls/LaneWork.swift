import BridgeJSON

// Work for a call in the lane.
extension CallEngine {
    /// The memory of one piece of work, without its text.
    private static var laneWorkBytes: Int { 512 }

    /// Runs work for a call in the lane. Its memory counts for the call's user until the work is back, even if the call
    /// has ended meanwhile: a client cannot exceed its quota by making calls and disconnecting.
    ///
    /// - Parameters:
    ///   - bytes: The size of the memory that the work holds.
    ///   - done: Called once, with `nil` if the call had ended before the work's turn came. The call may end at any
    ///     time.
    /// - Throws: `busy` if there is no room for these bytes; then nothing has begun.
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
