import Synchronization
import TaskKit

extension CookieLane {
    /// Performs one of several steps of a call, in its user's turn, and waits until its changes are on the disk.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - outlivesCall: Whether the step is performed even if the call or its session has ended.
    ///   - work: The work on the store's thread. It returns its result and the profile. If it throws, it has changed
    ///     nothing.
    func step<T: Sendable>(
        of call: Call, outlivesCall: Bool = false,
        _ work: @escaping @Sendable (inout CookieEngine) throws(BridgeError) -> (T, ProfileID)
    ) async throws(BridgeError) -> T {
        let outcome = await withCheckedContinuation { continuation in
            submit(CookieStep(call, outlivesCall, work, continuation))
        }
        return try outcome.get()
    }
}

/// A step that waits for the store.
private final class CookieStep<T: Sendable>: CookieCall {
    typealias Work = @Sendable (inout CookieEngine) throws(BridgeError) -> (T, ProfileID)

    private let call: Call
    private let outlivesCall: Bool
    private let work: Work
    private let continuation: CheckedContinuation<Result<T, BridgeError>, Never>
    private let made = Mutex<T?>(nil)

    init(
        _ call: Call, _ outlivesCall: Bool, _ work: @escaping Work,
        _ continuation: CheckedContinuation<Result<T, BridgeError>, Never>
    ) {
        (self.call, self.outlivesCall, self.work, self.continuation) = (call, outlivesCall, work, continuation)
    }

    var uid: UInt32 { call.caller.uid }
    var isCancelled: Bool { !outlivesCall && call.isCancelled }

    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome {
        let (value, profile) = try work(&engine)
        made.withLock { $0 = value }
        return CookieOutcome(nil, of: profile)
    }

    func answer(_ outcome: Result<[UInt8], BridgeError>) {
        switch outcome {
        case .failure(let error): continuation.resume(returning: .failure(error))
        case .success:
            // There is a value, because the step was performed.
            continuation.resume(returning: made.withLock { $0 }.map { .success($0) } ?? .failure(.storeNotOpen))
        }
    }
}
