package import BridgeJSON

/// What a reader does whose end is a pipe: docs/streams.md, "By descriptor". A state machine without a pipe and without
/// waiting.
package struct ReadPipe: Sendable {
    /// What comes next.
    package enum Step: Sendable {
        /// These are the next bytes.
        case bytes([UInt8])
        /// All bytes have come, so many: the stream is to be closed with that number.
        case all(bytes: UInt64)
        /// The stream is not complete: it is to be left.
        case failure(BridgeError)
        /// Nothing is there: the outcome is to be waited for, or bytes too.
        case wait(forBytes: Bool)
    }

    private var count: UInt64 = 0
    /// How many bytes there are in all, or why the stream is not complete; nil: the daemon has not said yet.
    package var outcome: Result<UInt64, BridgeError>?

    package init() {}

    /// How many bytes have come.
    package var byteCount: UInt64 { count }

    /// - Parameter read: Reads what is there. None: the pipe has ended; nil: nothing is there at present.
    package mutating func next(_ read: () -> [UInt8]?) -> Step {
        if case .success(count) = outcome { return .all(bytes: count) }
        let bytes = read()
        if let bytes, !bytes.isEmpty {
            count += UInt64(bytes.count)
            return .bytes(bytes)
        }
        switch outcome {
        case .failure(let error): return .failure(error)
        // A process that the writer has begun may keep its end open: the number alone says that it is the end.
        case .success(let total) where bytes != nil: return .failure(.incomplete(count, of: total))
        case .success, nil: return .wait(forBytes: bytes == nil)
        }
    }
}
