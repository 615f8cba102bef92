import BridgeJSON
import Synchronization

/// A thread beside the runtime's, for what would keep the loop too long: whole checks of options, and reading schemas.
public protocol WorkLane: AnyObject {
    /// Does the work on that thread, in the user's turn, then `done` on the runtime's thread, never within this call.
    ///
    /// - Parameter uid: For whom it is done: users take turns.
    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void)
}

/// Marks work that no one waits for any longer: its call has ended.
final class LaneMark: Sendable {
    private let isSet = Atomic<Bool>(false)

    /// The call has ended.
    func drop() { isSet.store(true, ordering: .relaxed) }
    /// Any thread.
    var isDropped: Bool { isSet.load(ordering: .relaxed) }
}

extension TaskRuntime {
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
        if let account, !hasRoom(for: bytes, of: account) { throw tooManyBytes(of: account, adding: bytes) }
        hold(bytes, for: account)
        let mark = LaneMark()
        call.extras.laneMark = mark
        let handle = call.handle
        lane.run(for: call.session?.peer.uid ?? policy.daemonUID) {
            mark.isDropped ? nil : work()
        } then: { [self] (value: Value?) in
            hold(-bytes, for: account)
            if let call = calls.call(handle) { call.extras.laneMark = nil }
            done(value)
        }
    }
}
