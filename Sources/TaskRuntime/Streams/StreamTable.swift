import BridgeJSON
import BridgeMessage

/// All streams that are not over: who may use them, and what happens to them. Loop thread only.
final class StreamTable {
    let calls: CallEngine
    private let quotas: Quotas
    var streams: [StreamName: OpenStream] = [:]
    private var random = SystemRandomNumberGenerator()
    let times: StreamTimers
    let pipes: StreamPipes
    var isDraining = false
    var onDrained: (() -> Void)?
    /// Bytes that wait for their readers.
    private(set) var waitingBytes = 0
    /// Bytes that readers have got, of all streams that there were.
    private(set) var movedBytes: UInt64 = 0

    init(_ rooms: RuntimeRooms, _ calls: CallEngine) {
        self.calls = calls
        quotas = rooms.quotas
        times = StreamTimers(rooms)
        pipes = StreamPipes(rooms.sessions)
        calls.onFailure = { [unowned self] names, error in fail(names, error) }
    }

    /// How many there are.
    var count: Int { streams.count }

    // MARK: Making one

    /// Makes a stream of which the caller holds one end.
    ///
    /// - Parameters:
    ///   - id: The call that the session works on, and that the stream is for; nil: it names none.
    ///   - attaches: Whether the caller's end is to be a pipe, where it can.
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
        // What a session makes for another's call is its own: nobody takes what the caller may have.
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

    /// Nothing waits in the window, and nothing will.
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

    /// The stream whose end the caller has, or takes by this.
    ///
    /// - Parameter side: nil: the side that the caller has, else the one that is free.
    /// - Throws: `stream.not_found`, whether there is none or it is another's; `stream.invalid`, where the caller has
    ///   the other end.
    func find(
        _ text: String, _ side: StreamSide?, _ call: Call, _ id: UInt64?
    ) throws(BridgeError) -> (stream: OpenStream, waiter: StreamWaiter) {
        let caller = try StreamCaller(call, workingOn: id, calls)
        guard let name = StreamName(text), let stream = streams[name] else { throw .streamNotFound }
        let side = side ?? stream.side(of: caller.holder) ?? (stream.writer == nil ? .writer : .reader)
        // What a plugin or provider holds for one caller is not there for another, whatever name that one gives.
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

    /// Takes bytes. The call is answered when there is room for more, or, with `isEnd`, when the reader has the end.
    ///
    /// - Parameter bytes: nil: they could not be read, and the stream is broken.
    func write(
        _ call: Call, to text: String, for id: UInt64?, _ bytes: (some Collection<UInt8>)?, isEnd: Bool
    ) throws(BridgeError) {
        let (stream, waiter) = try find(text, .writer, call, id)
        update(stream, for: waiter) {
            guard let bytes else { return $0.reject(.noStreamBytes, waiter) }
            return $0.write(bytes, isEnd: isEnd, waiter)
        }
    }

    /// Asks for bytes: the call is answered with the first of them, or the end.
    func read(_ call: Call, from text: String, for id: UInt64?, maximumBytes: Int?) throws(BridgeError) {
        let (stream, waiter) = try find(text, .reader, call, id)
        let most = StreamText.readBytes(maximumBytes, messageBytes: quotas.limits.messageBytes, stream.announcement)
        update(stream, for: waiter) { $0.read(maximumBytes: most, waiter) }
    }

    /// Closes the caller's end.
    ///
    /// - Parameters:
    ///   - side: nil: the side that the caller has, the writer's where it has both.
    ///   - bytes: how many the caller has counted; nil: it has not.
    ///   - error: why the stream is not complete; nil: the writer has written all, or the reader has enough.
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

    // MARK: What happens to a stream

    typealias Answers = [StreamAnswer<StreamWaiter>]

    /// The same for a call: where it has not been answered, it waits.
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
        // An answer may have led to more: to the end of the stream, too.
        guard streams[stream.name] === stream else { return }
        if stream.state.isOver || stream.isPointless { return forget(stream) }
        stream.releaseLeft()
        if stream.state.readerHasLeft { releaseCharge(of: stream) }
        if stream.state.isReadHeld, let session = stream.readingSession { hold(stream.name, for: session) }
    }

    /// Whether the reader has read what it was sent, and its user has room.
    private func isReady(_ stream: OpenStream) -> Bool {
        guard let session = stream.readingSession else { return true }
        return session.output.count < Session.slowReaderBytes && !quotas.isOverQuota(session)
    }

    /// The read waits until the session has read on. Where that will not happen, because it has little to read, the
    /// user's other sessions take the room: then it is looked at after a while.
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
            // At once: readers of the same user are answered in the same turn.
            if let session = stream.readingSession { quotas.countQueued(session) }
        case .end(let waiter, let bytes): send(.end(bytes: bytes), to: waiter)
        case .receipt(let waiter, let bytes, let reason): send(.receipt(bytes: bytes, reason?.fault), to: waiter)
        case .failure(let waiter, let failure): calls.answer(waiter.call, .failure(failure.error(for: waiter.side)))
        }
    }

    private func send(_ result: StreamResult, to waiter: StreamWaiter) {
        if let call = calls.call(waiter.call) { answer(call, result) }
    }

    /// Ends a call about a stream: with JSON text, unless it takes the result as it is.
    func answer(_ call: Call, _ result: StreamResult) {
        guard let reply = call.record.pointee.extras?.streamReply else {
            if let end = result.passed { call.extras.passed = end }
            return calls.answer(call.handle, text: .success(StreamText.text(result)))
        }
        reply.result = result
        calls.end(call, .result(UnsafeRawBufferPointer(start: nil, count: 0)))
    }

    /// A call that waits for a stream ends otherwise.
    func abandon(_ call: Call) {
        guard let name = call.record.pointee.extras?.waitsForStream, let stream = streams[name] else { return }
        let handle = call.handle
        stream.state.forget { $0.call == handle }
    }

    /// The client has read on: reads that waited for it go on, as far as it is ready.
    func refill(_ session: Session) {
        guard let holder = session.streamHolder, !holder.heldReads.isEmpty else { return }
        for name in holder.takeHeldReads() {
            if let stream = streams[name] { update(stream) { $0.serve() } }
        }
    }
}
