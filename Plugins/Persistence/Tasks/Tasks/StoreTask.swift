import Synchronization
import TaskKit

/// A task that is carried out on one of the store's lanes.
///
/// Raw, so that a call takes its place in its session's order before the next one begins, and so that reading the
/// options and writing the result, either of which may be a megabyte, costs the loop thread no more than a copy.
protocol StoreTask: RawTask {
    associatedtype Request: Decodable & Sendable
    var store: Store { get }

    /// What is to be done.
    ///
    /// - Parameter request: Reads the options, on the lane's thread.
    func work(_ request: @escaping @Sendable () throws -> Request, _ caller: Caller) -> StoreCall.Work

    /// Reads options of a common form quickly; nil: they are of another form, right or wrong. What it reads is what
    /// decoding would have read.
    static func quickRequest(_ options: [UInt8]) -> Request?
}

extension StoreTask {
    static func quickRequest(_ options: [UInt8]) -> Request? { nil }

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        let reply = ReplySlot(reply)
        store.submit(
            storeCall(
                options: options.withUnsafeBytes { Array($0) }, caller: call.caller,
                isCancelled: { call.isCancelled }, answer: { reply.give($0) }))
    }

    /// The call as the store takes it.
    func storeCall(
        options: [UInt8], caller: Caller, isCancelled: @escaping @Sendable () -> Bool,
        answer: @escaping @Sendable (Result<[UInt8], BridgeError>) -> Void
    ) -> StoreCall {
        StoreCall(
            session: caller.session, sizeBytes: options.count, isCancelled: isCancelled,
            work: work({ try Self.request(options) }, caller), answer: answer)
    }

    /// - Throws: `options.invalid`. An option that is not known is refused: a misspelt `ifVersion` or `where` that was
    ///   passed over would cost records.
    private static func request(_ options: [UInt8]) throws(BridgeError) -> Request {
        if let request = quickRequest(options) { return request }
        let decoded = options.withUnsafeBytes { bytes in
            Result { () throws(JSONMismatch) in
                try JSONCoding.decode(Request.self, from: bytes, unknownKeys: .refuse)
            }
        }
        return try decoded.mapError { BridgeError($0) }.get()
    }
}

/// A task that changes records.
protocol WriteTask: StoreTask {
    /// The work, in a transaction that other calls may share. A `BridgeError` says that it has changed nothing.
    ///
    /// - Returns: The result as JSON.
    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8]
}

extension WriteTask {
    func work(_ request: @escaping @Sendable () throws -> Request, _ caller: Caller) -> StoreCall.Work {
        .write { access in try perform(request(), caller, access) }
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
