import BridgeJSON

/// A call that is answered about a stream, and for which side it asked.
struct StreamWaiter {
    let call: CallHandle
    let side: StreamSide
}

/// A stream that is not over: its state, who holds its ends, and who may take the one that is free. Loop thread only.
final class OpenStream {
    /// Who may take the end that its maker does not hold.
    struct Takers {
        /// Sessions of this user and origin; nil: the maker is no session.
        let owner: ProviderOwner?
        /// Who works on a call of this root call; nil: on a call of any root call of the maker's.
        let root: UInt64?
        /// Who made that root call, or the stream where there is none.
        let rootMaker: StreamHolder
        /// How many calls of the maker's are in flight.
        let makerCalls: () -> Int
    }

    /// What the maker said of the bytes, for the reader.
    struct Announcement {
        let type: String?
        let totalBytes: UInt64?

        private static let maximumTypeBytes = 256

        /// - Throws: `options.invalid`, where the type is too long.
        func check() throws(BridgeError) {
            guard let bytes = type?.utf8.count, bytes > Self.maximumTypeBytes else { return }
            throw BridgeError(
                JSONMismatch(
                    path: "$.type", expected: "at most \(Self.maximumTypeBytes) bytes", got: "\(bytes)"))
        }
    }

    /// Whose window it is.
    struct Charge {
        let holder: StreamHolder
        /// Nil: a plugin's.
        let account: UserAccount?
        let windowBytes: Int
    }

    let name: StreamName
    let takers: Takers
    let charge: Charge
    private var isCharged = true
    var state: StreamState<StreamWaiter>
    /// What an end of it is that is a pipe.
    var pipe: (any StreamPipe)?
    /// Whether a plugin in the daemon's process has an end of the pipe.
    var hasEndInDaemon = false
    private(set) var writer: StreamHolder?
    private(set) var reader: StreamHolder?
    /// The session that reads; nil: a plugin does, or nobody yet.
    private(set) var readingSession: Session?
    private(set) var announcement: Announcement?
    /// Whether calls were in flight that might have taken the other end, when the stream was last looked at.
    var wasAwaited = false
    /// What had been moved when the daemon, which is stopping, last looked.
    private var seenBytes: UInt64?

    init(_ name: StreamName, _ takers: Takers, _ charge: Charge, _ announcement: Announcement) {
        self.name = name
        self.takers = takers
        self.charge = charge
        self.announcement = announcement
        state = StreamState(windowBytes: charge.windowBytes)
    }

    var isClaimed: Bool { writer != nil && reader != nil }
    /// Nobody can take an end any longer that would be of use: the reader left before there was a writer.
    var isPointless: Bool { writer == nil && state.readerHasLeft }

    /// Whether the maker, which named no call, has calls in flight.
    var makerHasCalls: Bool { takers.makerCalls() > 0 }

    /// What the maker said of the bytes, once: for the first answer to the reader.
    func takeAnnouncement() -> Announcement? {
        defer { announcement = nil }
        return announcement
    }

    /// What no longer counts from now on; nil: nothing does.
    func takeCharge() -> Charge? {
        guard isCharged else { return nil }
        isCharged = false
        return charge
    }

    func holder(of side: StreamSide) -> StreamHolder? { side == .writer ? writer : reader }

    /// The side that a holder has; the writer's where it has both. Nil: none.
    func side(of holder: StreamHolder) -> StreamSide? {
        if writer === holder { return .writer }
        return reader === holder ? .reader : nil
    }

    /// - Parameter session: whose holder it is; nil: a plugin's.
    func take(_ side: StreamSide, _ holder: StreamHolder, _ session: Session?, at now: RuntimeInstant) {
        switch side {
        case .writer: writer = holder
        case .reader:
            reader = holder
            readingSession = session
        }
        holder.take(name, at: now)
    }

    /// What happens to the stream. Its holders know when bytes have last moved.
    ///
    /// - Returns: what the change does.
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

    /// A side that has left holds its end no longer, however long the other one goes on. Who has both holds the stream
    /// until it has ended.
    func releaseLeft() {
        guard writer !== reader else { return }
        if state.writerHasLeft { writer?.release(name) }
        if state.readerHasLeft { reader?.release(name) }
    }

    /// The stream has ended: nobody holds it.
    func release() {
        let holders = [writer, reader]
        (writer, reader, readingSession) = (nil, nil, nil)
        for holder in holders { holder?.release(name) }
    }

    /// Whether nothing has moved since the last time that this was asked.
    func hasStoodStill() -> Bool {
        defer { seenBytes = state.movedBytes }
        return state.movedBytes == seenBytes
    }
}
