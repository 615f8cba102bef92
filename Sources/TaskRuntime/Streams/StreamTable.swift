import BridgeJSON
import BridgeMessage

/// All streams that have not ended: the rights to use them, and their operations. Loop thread only.
final class StreamTable {
    let calls: CallEngine
    private let quotas: Quotas
    var streams: [StreamName: OpenStream] = [:]
    private var random = SystemRandomNumberGenerator()
    let times: StreamTimers
    let pipes: StreamPipes
    var isDraining = false
    var onDrained: (() -> Void)?
    /// The number of bytes that wait for their readers.
    private(set) var waitingBytes = 0
    /// The number of bytes that readers have received, of all streams since the start.
    private(set) var movedBytes: UInt64 = 0

    init(_ components: RuntimeComponents, _ calls: CallEngine) {
        self.calls = calls
        quotas = components.quotas
        times = StreamTimers(components)
        pipes = StreamPipes(components.sessions)
        calls.onFailure = { [unowned self] names, error in fail(names, error) }
    }

    /// The number of streams.
    var count: Int { streams.count }

    // MARK: Creation

    /// Creates a stream of which the caller holds one end.
    ///
    /// - Parameters:
    ///   - id: The call that the session works on, and that the stream is for; `nil` if it names none.
    ///   - attaches: Whether the caller's end becomes a pipe if that is possible.
    /// - Throws: `daemon.stopping`, `call.not_found`, `options.invalid`, `quota.exceeded` or `busy`.
    func make(
        _ call: Call, _ side: StreamSide, for id: UInt64?, _ announcement: OpenStream.Announcement,
        attaches: Bool = false
    ) throws(BridgeError) -> StreamResult {
        try announcement.check()
        guard !isDraining else { throw .streamsStopping }
        let maker = try StreamCaller(call, workingOn: id, calls)
        guard !maker.isLeaving || maker.worked != nil else { throw .streamsOfLeaving }
        let root = maker.worked.flatMap { calls.call(numbered: $0.rootNumber) }
        // A stream that a session makes for another's call is charged to the session: nothing counts against that
        // call's caller.
        let payer = maker.session ?? root?.session
        let charged = payer?.makeStreamHolder() ?? maker.holder
        try quotas.checkStream(of: charged, payer, plugin: call.pluginName)
        let stream = OpenStream(
            StreamName(using: &random),
            OpenStream.Takers(
                owner: maker.session?.owner, root: root?.number,
                rootMaker: root.flatMap(StreamCaller.holder) ?? maker.holder, makerCalls: maker.callsInFlight),
            OpenStream.Charge(holder: charged, account: payer?.account, windowBytes: quotas.limits.streamWindowBytes),
            announcement)
        stream.take(side, maker.holder, maker.session, at: times.now)
        streams[stream.name] = stream
        maker.worked?.note(stream.name) { [streams] in streams[$0] != nil }
        count(stream.charge, 1)
        times.waitForClaim(of: stream.name) { [streams] in streams[$0]?.isClaimed == false }
        let end = attaches ? try? attach(stream, side, for: call) : nil
        return .made(name: stream.name.text, roomBytes: stream.charge.windowBytes, end)
    }

    private func count(_ charge: OpenStream.Charge, _ sign: Int) {
        charge.holder.chargedCount += sign
        charge.account?.streams += sign
        quotas.hold(sign * charge.windowBytes, for: charge.account)
    }

    /// Releases the charge: nothing waits in the window, and nothing will.
    private func releaseCharge(of stream: OpenStream) {
        if let charge = stream.takeCharge() { count(charge, -1) }
    }

    func forget(_ stream: OpenStream) {
        guard streams.removeValue(forKey: stream.name) != nil else { return }
        releaseCharge(of: stream)
        waitingBytes -= stream.state.waitingBytes
        pipes.close(stream)
        stream.release()
        noteDrainProgress()
    }

    // MARK: The tasks

    /// Returns the stream of which the caller has an end, or takes one by this call.
    ///
    /// - Parameter side: The side; `nil` for the side that the caller has, or else the free one.
    /// - Throws: `stream.not_found` if it does not exist or belongs to another caller; `stream.invalid` if the caller
    ///   has the other end.
    func find(
        _ text: String, _ side: StreamSide?, _ call: Call, _ id: UInt64?
    ) throws(BridgeError) -> (stream: OpenStream, waiter: StreamWaiter) {
        let caller = try StreamCaller(call, workingOn: id, calls)
        guard let name = StreamName(text), let stream = streams[name] else { throw .streamNotFound }
        let side = side ?? stream.side(of: caller.holder) ?? (stream.writer == nil ? .writer : .reader)
        // A stream that a plugin or provider holds for one caller does not exist for another caller, whatever name that
        // one passes.
        let mayTake = caller.mayTake(stream.takers, calls)
        guard caller.worked == nil || mayTake else { throw .streamNotFound }
        if stream.holder(of: side) !== caller.holder {
            guard stream.holder(of: side) == nil, mayTake else {
                throw stream.side(of: caller.holder).map(BridgeError.otherEnd) ?? .streamNotFound
            }
            stream.take(side, caller.holder, caller.session, at: times.now)
        }
        return (stream, StreamWaiter(call: call.handle, side: side))
    }

    /// Adds bytes. The call is answered when there is room for more or, with `isEnd`, when the reader has received the
    /// end.
    ///
    /// - Parameter bytes: The bytes; `nil` if they could not be decoded, which breaks the stream.
    func write(
        _ call: Call, to text: String, for id: UInt64?, _ bytes: (some Collection<UInt8>)?, isEnd: Bool
    ) throws(BridgeError) {
        let (stream, waiter) = try find(text, .writer, call, id)
        update(stream, for: waiter) {
            guard let bytes else { return $0.reject(.noStreamBytes, waiter) }
            return $0.write(bytes, isEnd: isEnd, waiter)
        }
    }

    /// Requests bytes: the call is answered with the first of them, or with the end.
    func read(_ call: Call, from text: String, for id: UInt64?, maximumBytes: Int?) throws(BridgeError) {
        let (stream, waiter) = try find(text, .reader, call, id)
        let most = StreamText.readBytes(maximumBytes, messageBytes: quotas.limits.messageBytes, stream.announcement)
        update(stream, for: waiter) { $0.read(maximumBytes: most, waiter) }
    }

    /// Closes the caller's end.
    ///
    /// - Parameters:
    ///   - side: The side; `nil` for the side that the caller has, or the writer's if it has both.
    ///   - bytes: The caller's count of bytes; `nil` if it has not counted.
    ///   - error: Why the stream is not complete; `nil` if the writer has written all bytes, or the reader needs no
    ///     more.
    func close(
        _ call: Call, _ text: String, _ side: StreamSide? = nil, for id: UInt64?, bytes: UInt64?, _ error: BridgeError?
    ) throws(BridgeError) {
        try error?.checkIsShort()
        let (stream, waiter) = try find(text, side, call, id)
        update(stream, for: waiter) {
            if error != nil { return $0.close(waiter.side, error, waiter) }
            if waiter.side == .writer { return $0.complete(bytes, waiter) }
            return $0.confirm(bytes, waiter) ?? $0.close(.reader, nil, waiter)
        }
    }

    // MARK: Changes

    typealias Answers = [StreamAnswer<StreamWaiter>]

    /// Applies a change for a call, which waits if it has not been answered.
    private func update(
        _ stream: OpenStream, for waiter: StreamWaiter, _ change: (inout StreamState<StreamWaiter>) -> Answers
    ) {
        update(stream, change)
        if let call = calls.call(waiter.call) { calls.setAside(call, for: stream.name) }
    }

    func update(_ stream: OpenStream, _ change: (inout StreamState<StreamWaiter>) -> Answers) {
        stream.state.isReaderReady = isReady(stream)
        let before = stream.state.waitingBytes
        var answers = stream.change(at: times.now, change)
        if stream.pipe != nil { answers += pipes.move(stream, at: times.now) }
        waitingBytes += stream.state.waitingBytes - before
        for answer in answers { send(answer, of: stream) }
        // An answer may have caused more changes, even the end of the stream.
        guard streams[stream.name] === stream else { return }
        if stream.state.isOver || stream.isPointless { return forget(stream) }
        stream.releaseLeft()
        if stream.state.readerHasLeft { releaseCharge(of: stream) }
        if stream.state.isReadHeld, let session = stream.readingSession { hold(stream.name, for: session) }
    }

    /// Whether the reader has read its earlier output, and its user has room.
    private func isReady(_ stream: OpenStream) -> Bool {
        guard let session = stream.readingSession else { return true }
        return session.output.count < Session.slowReaderBytes && !quotas.isOverQuota(session)
    }

    /// Makes the read wait until the session has read more. If the session has little to read, that event will not
    /// occur, because other sessions of its user occupy the room: the read is then checked again after a while.
    private func hold(_ name: StreamName, for session: Session) {
        session.makeStreamHolder().heldReads.insert(name)
        if session.output.count < Session.slowReaderBytes { times.retry(session) }
    }

    private func send(_ answer: StreamAnswer<StreamWaiter>, of stream: OpenStream) {
        switch answer {
        case .room(let waiter, let bytes): send(.room(bytes: bytes), to: waiter)
        case .bytes(let waiter, let bytes):
            movedBytes += UInt64(bytes.count)
            let announcement = stream.takeAnnouncement()
            send(.bytes(bytes, type: announcement?.type, totalBytes: announcement?.totalBytes), to: waiter)
            // Immediately: readers of the same user are answered in the same turn.
            if let session = stream.readingSession { quotas.countQueued(session) }
        case .end(let waiter, let bytes): send(.end(bytes: bytes), to: waiter)
        case .receipt(let waiter, let bytes, let reason): send(.receipt(bytes: bytes, reason?.fault), to: waiter)
        case .failure(let waiter, let failure): calls.answer(waiter.call, .failure(failure.error(for: waiter.side)))
        }
    }

    private func send(_ result: StreamResult, to waiter: StreamWaiter) {
        if let call = calls.call(waiter.call) { answer(call, result) }
    }

    /// Ends a call about a stream: with JSON text, unless it takes the result as a value.
    func answer(_ call: Call, _ result: StreamResult) {
        guard let reply = call.record.pointee.extras?.streamReply else {
            if let end = result.passed { call.extras.passed = end }
            return calls.answer(call.handle, text: .success(StreamText.text(result)))
        }
        reply.result = result
        calls.end(call, .result(UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    /// Removes a call that waits for a stream and ends in another way.
    func abandon(_ call: Call) {
        guard let name = call.record.pointee.extras?.waitsForStream, let stream = streams[name] else { return }
        let handle = call.handle
        stream.state.forget { $0.call == handle }
    }

    /// Continues reads that waited for the client to read more, as far as it is ready.
    func refill(_ session: Session) {
        guard let holder = session.streamHolder, !holder.heldReads.isEmpty else { return }
        for name in holder.takeHeldReads() {
            if let stream = streams[name] { update(stream) { $0.serve() } }
        }
    }
}
