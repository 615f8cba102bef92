import Synchronization
import TaskKit

/// A task that is carried out on the lane.
///
/// Raw, so that a call takes its place in the lane's queue before the next one begins, and so that reading the options
/// and writing the result, either of which may be a megabyte, costs the loop thread no more than a copy.
protocol StoreTask: RawTask {
    associatedtype Request: Decodable & Sendable
    static var effect: BatchPlanner.Effect { get }
    var lane: CommitLane { get }

    /// The work, on the lane's thread. What it submits to the lane is done after its own answer was given.
    ///
    /// - Returns: The result as JSON.
    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8]
}

extension StoreTask {
    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        let reply = ReplySlot(reply)
        lane.submit(
            storeCall(
                options: options.withUnsafeBytes { Array($0) }, caller: call.caller,
                isCancelled: { call.isCancelled }, answer: { reply.give($0) }))
    }

    /// The call as the lane takes it.
    func storeCall(
        options: [UInt8], caller: Caller, isCancelled: @escaping @Sendable () -> Bool,
        answer: @escaping @Sendable (Result<[UInt8], BridgeError>) -> Void
    ) -> StoreCall {
        StoreCall(
            session: caller.session, effect: Self.effect, sizeBytes: options.count, isCancelled: isCancelled,
            work: { access in try perform(Self.request(options), caller, access) }, answer: answer)
    }

    /// - Throws: `options.invalid`. An option that is not known is refused: a misspelt `ifVersion` or `where` that was
    ///   passed over would cost records.
    private static func request(_ options: [UInt8]) throws(BridgeError) -> Request {
        let decoded = options.withUnsafeBytes { bytes in
            Result { () throws(JSONMismatch) in
                try JSONCoding.decode(Request.self, from: bytes, unknownKeys: .refuse)
            }
        }
        return try decoded.mapError { BridgeError($0) }.get()
    }
}

/// A reply that a closure can hold.
private final class ReplySlot: Sendable {
    private let reply: Mutex<Reply?>

    init(_ reply: consuming Reply) { self.reply = Mutex(reply) }

    func give(_ outcome: Result<[UInt8], BridgeError>) {
        guard let reply = reply.withLock({ $0.take() }) else { return }
        switch outcome {
        case .success(let bytes): reply.succeed(bytes: bytes)
        case .failure(let error): reply.fail(error)
        }
    }
}
