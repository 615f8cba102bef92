import BridgeJSON

/// A call that waits for an answer about a stream, and the side that it belongs to.
struct StreamWaiter {
    let call: CallHandle
    let side: StreamSide
}

/// A stream that has not ended: its state, the holders of its ends, and the callers that may take the free end. Loop
/// thread only.
final class OpenStream {
    /// The callers that may take the end that the maker does not hold.
    struct Takers {
        /// The user and origin whose sessions may take it; `nil` if the maker is not a session.
        let owner: ProviderOwner?
        /// The root call whose calls a caller must work on to take it; `nil` for any root call of the maker.
        let root: UInt64?
        /// The maker of that root call, or of the stream if there is none.
        let rootMaker: StreamHolder
        /// Returns the number of the maker's calls in flight.
        let makerCalls: () -> Int
    }

    /// The maker's description of the bytes, for the reader.
    struct Announcement {
        let type: String?
        let totalBytes: UInt64?

        private static let maximumTypeBytes = 256

        /// - Throws: `options.invalid` if the type is too long.
        func check() throws(BridgeError) {
            guard let bytes = type?.utf8.count, bytes > Self.maximumTypeBytes else { return }
            throw BridgeError(
                JSONMismatch(
                    path: "$.type", expected: "at most \(Self.maximumTypeBytes) bytes", got: "\(bytes)"))
        }
    }

    /// The holder and the account that are charged for the window.
    struct Charge {
        let holder: StreamHolder
        /// `nil` for a plugin.
        let account: UserAccount?
        let windowBytes: Int
    }

    let name: StreamName
    let takers: Takers
    let charge: Charge
    private var isCharged = true
    var state: StreamState<StreamWaiter>
    /// The pipe that is one or both ends; `nil` if neither end is a pipe.
    var pipe: (any StreamPipe)?
    /// Whether a plugin in the daemon's process has an end of the pipe.
    var hasEndInDaemon = false
    private(set) var writer: StreamHolder?
    private(set) var reader: StreamHolder?
    /// The session that reads; `nil` if a plugin reads, or no reader exists yet.
    private(set) var readingSession: Session?
    private(set) var announcement: Announcement?
    /// Whether calls that might have taken the other end were in flight at the last check.
    var wasAwaited = false
    /// The moved bytes at the last check while the daemon is stopping.
    private var seenBytes: UInt64?

    init(_ name: StreamName, _ takers: Takers, _ charge: Charge, _ announcement: Announcement) {
        self.name = name
        self.takers = takers
        self.charge = charge
        self.announcement = announcement
        state = StreamState(windowBytes: charge.windowBytes)
    }

    var isClaimed: Bool { writer != nil && reader != nil }
    /// Whether taking the free end has no use any more: the reader left before there was a writer.
    var isPointless: Bool { writer == nil && state.readerHasLeft }

    /// Whether the maker, which named no call, has calls in flight.
    var makerHasCalls: Bool { takers.makerCalls() > 0 }

    /// Returns the announcement once: for the first answer to the reader.
    func takeAnnouncement() -> Announcement? {
        defer { announcement = nil }
        return announcement
    }

    /// Returns the charge to release, once; `nil` if it was released before.
    func takeCharge() -> Charge? {
        guard isCharged else { return nil }
        isCharged = false
        return charge
    }

    func holder(of side: StreamSide) -> StreamHolder? { side == .writer ? writer : reader }

    /// Returns the side of a holder; the writer's if it has both; `nil` if it has none.
    func side(of holder: StreamHolder) -> StreamSide? {
        if writer === holder { return .writer }
        return reader === holder ? .reader : nil
    }

    /// - Parameter session: The session of the holder; `nil` for a plugin.
    func take(_ side: StreamSide, _ holder: StreamHolder, _ session: Session?, at now: RuntimeInstant) {
        switch side {
        case .writer: writer = holder
        case .reader:
            reader = holder
            readingSession = session
        }
        holder.take(name, at: now)
    }

    /// Applies a change to the state. If bytes have moved, the holders record the time.
    ///
    /// - Returns: The result of the change.
    func change<Result>(
        at now: @autoclosure () -> RuntimeInstant, _ change: (inout StreamState<StreamWaiter>) -> Result
    ) -> Result {
        let before = state.movedBytes
        let result = change(&state)
        if state.movedBytes != before {
            let now = now()
            for holder in [writer, reader] { holder?.noteMove(at: now) }
        }
        return result
    }

    /// Releases the ends of sides that have left, however long the other side continues. A holder of both ends keeps
    /// the stream until it has ended.
    func releaseLeft() {
        guard writer !== reader else { return }
        if state.writerHasLeft { writer?.release(name) }
        if state.readerHasLeft { reader?.release(name) }
    }

    /// Releases both ends: the stream has ended.
    func release() {
        let holders = [writer, reader]
        (writer, reader, readingSession) = (nil, nil, nil)
        for holder in holders { holder?.release(name) }
    }

    /// Whether no bytes have moved since the last call of this method.
    func hasStoodStill() -> Bool {
        defer { seenBytes = state.movedBytes }
        return state.movedBytes == seenBytes
    }
}
