package import BridgeJSON

/// The state machine of a reader whose end is a pipe: docs/streams.md, "By descriptor". It does no I/O and never waits.
package struct ReadPipe: Sendable {
    /// The next step of the reader.
    package enum Step: Sendable {
        /// The next bytes.
        case bytes([UInt8])
        /// All bytes were received. The reader must close the stream with their number.
        case all(bytes: UInt64)
        /// The stream is not complete. The reader must leave it.
        case failure(BridgeError)
        /// No bytes are available. The reader must wait for the outcome, and also for bytes if `forBytes` is true.
        case wait(forBytes: Bool)
    }

    private var count: UInt64 = 0
    /// The total number of bytes, or the reason why the stream is not complete; `nil` before the daemon has reported
    /// it.
    package var outcome: Result<UInt64, BridgeError>?

    package init() {}

    /// The number of received bytes.
    package var byteCount: UInt64 { count }

    /// - Parameter read: Reads the available bytes. Empty if the pipe has ended; `nil` if no bytes are available now.
    package mutating func next(_ read: () -> [UInt8]?) -> Step {
        if case .success(count) = outcome { return .all(bytes: count) }
        let bytes = read()
        if let bytes, !bytes.isEmpty {
            count += UInt64(bytes.count)
            return .bytes(bytes)
        }
        switch outcome {
        case .failure(let error): return .failure(error)
        // A child process of the writer may keep its end open, so only the number of bytes determines the end.
        case .success(let total) where bytes != nil: return .failure(.incomplete(count, of: total))
        case .success, nil: return .wait(forBytes: bytes == nil)
        }
    }
}
