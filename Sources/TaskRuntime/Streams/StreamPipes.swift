import BridgeJSON
import BridgeMessage

/// The pipes of streams: the limits for them, and the transfer between a pipe and a stream's window. Loop thread only.
final class StreamPipes {
    /// The maximum number of streams with a pipe of which the daemon keeps an end: of one user, and of all.
    private static let maximumOfUser = 64
    private static let maximum = 512
    /// The maximum number of ends of a session or a plugin that are pipes: a process can have a few hundred
    /// descriptors.
    private static let maximumOfHolder = 64
    /// The maximum number of sent descriptors that have not been received: by one session or plugin process, and by one
    /// user. The kernel counts them against the daemon.
    private static let maximumUnreadOfReceiver = 16
    private static let maximumUnreadOfUser = 64

    /// Creates pipes; `nil` if pipes are not available.
    var make: StreamPipeMaker?
    private let sessions: SessionStore
    /// The streams of which the daemon keeps an end of the pipe, by the uid of their user.
    private var kept: [UInt32?: Set<StreamName>] = [:]
    private var keptCount = 0
    /// Sessions that were sent descriptors, by uid: some may not have been received.
    private var receivers: [UInt32: Set<UInt64>] = [:]

    init(_ sessions: SessionStore) { self.sessions = sessions }

    // MARK: Limits

    /// Makes a side's end a pipe. This must be the first use of the end.
    ///
    /// - Parameters:
    ///   - receiver: The receiver of the descriptor.
    ///   - events: The handlers of the pipe's events.
    /// - Returns: The end of the pipe.
    /// - Throws: `stream.invalid`, `stream.closed`; `busy` if the user has too many.
    func attach(
        _ stream: OpenStream, _ side: StreamSide, for receiver: PipeReceiver, _ events: StreamPipeEvents
    ) throws(BridgeError) -> PassedDescriptor {
        guard let make else { throw .noDescriptors }
        try checkUnread(of: receiver)
        let uid = stream.charge.account?.uid
        if stream.pipe == nil { try checkKept(of: uid) }
        let holder = stream.holder(of: side)
        guard holder?.pipeCount ?? 0 < Self.maximumOfHolder else { throw .tooManyPipes }
        do throws(StreamFailure) {
            try stream.state.checkAttach(side)
        } catch {
            throw error.error(for: side)
        }
        // If no pipe can be created, the side continues with messages.
        let pipe = if let pipe = stream.pipe { pipe } else { try make(uid, events) }
        stream.pipe = pipe
        stream.state.attach(side)
        guard let end = pipe.giveEnd(to: side) else { throw .noDescriptors }
        holder?.notePipe(stream.name)
        switch receiver {
        case .session(let session): receivers[session.peer.uid, default: []].insert(session.number)
        case .process: break
        case .daemon: stream.hasEndInDaemon = true
        }
        keep(stream.name, of: uid, stream.hasEndInDaemon || !stream.state.isDirect)
        return end
    }

    private func checkKept(of uid: UInt32?) throws(BridgeError) {
        guard kept[uid, default: []].count < Self.maximumOfUser, keptCount < Self.maximum else { throw .tooManyPipes }
    }

    private func keep(_ name: StreamName, of uid: UInt32?, _ isKept: Bool) {
        keptCount -= kept[uid]?.count ?? 0
        if isKept { kept[uid, default: []].insert(name) } else { kept[uid]?.remove(name) }
        keptCount += kept[uid]?.count ?? 0
        if kept[uid]?.isEmpty == true { kept[uid] = nil }
    }

    private func checkUnread(of receiver: PipeReceiver) throws(BridgeError) {
        switch receiver {
        case .session(let session): try checkUnread(of: session)
        case .process(let process):
            guard process.unreadDescriptors < Self.maximumUnreadOfReceiver else { throw .unreadDescriptors }
        case .daemon: break
        }
    }

    /// Examines at most as many sessions as descriptors may be unread.
    private func checkUnread(of session: Session) throws(BridgeError) {
        guard let own = session.transport?.unreadDescriptors() else { throw .noDescriptors }
        var unread = 0
        for number in receivers[session.peer.uid] ?? [] {
            let count = sessions[number]?.transport?.unreadDescriptors() ?? 0
            if count == 0 { receivers[session.peer.uid]?.remove(number) }
            unread += count
        }
        if receivers[session.peer.uid]?.isEmpty == true { receivers[session.peer.uid] = nil }
        guard own < Self.maximumUnreadOfReceiver, unread < Self.maximumUnreadOfUser else { throw .unreadDescriptors }
    }

    // MARK: Bytes

    /// Moves the bytes that can be moved, and closes the pipe when it is not needed any more.
    ///
    /// - Returns: The answers to waiting calls.
    func move(_ stream: OpenStream, at now: RuntimeInstant) -> [StreamAnswer<StreamWaiter>] {
        guard let pipe = stream.pipe else { return [] }
        let answers = stream.change(at: now) { $0.drain(pipe.write) }
        if stream.state.isPipeDone { close(stream) } else { pipe.read(stream.state.pourBytes) }
        return answers
    }

    /// Closes the pipe: the stream or the pipe has ended.
    func close(_ stream: OpenStream) {
        guard let pipe = stream.pipe else { return }
        stream.pipe = nil
        pipe.close()
        keep(stream.name, of: stream.charge.account?.uid, false)
    }
}

extension BridgeError {
    static let noDescriptors = BridgeError(
        .streamInvalid, "this caller cannot receive a descriptor: use bridge.stream.read and bridge.stream.write")

    fileprivate static let tooManyPipes = BridgeError(
        .busy,
        "the caller or its user has too many streams with descriptors: use bridge.stream.read and bridge.stream.write",
        data: ["started": false], isTransient: true)

    fileprivate static let unreadDescriptors = BridgeError(
        .busy, "too many descriptors were sent to this caller or user that have not been received",
        data: ["started": false],
        isTransient: true, retryAfter: .milliseconds(100))
}
