import CCurl
import TaskKit

/// The transfers of a network's thread, which alone uses it.
final class RunningTransfers {
    private let multi: MultiHandle
    /// Has the thread go on with a transfer; any thread.
    private let wake: @Sendable (UInt64) -> Void
    private var transfers: [UInt64: Transfer] = [:]
    /// Handles that no transfer has, for the next ones.
    private var spare: [EasyHandle] = []
    /// How many there are at most: as many as end in one turn under load. Each takes some KiB.
    private static let maximumSpare = 16
    private let lookups = OpenLookups()
    /// What has news for its reader since the last turn.
    private var changed: [ResponseChannel] = []
    /// How long, from the last turn on, until the next transfer has waited too long.
    private(set) var patience = NetworkThread.idleTime
    private(set) var isStopped = false

    init(_ multi: MultiHandle, wake: @escaping @Sendable (UInt64) -> Void) { (self.multi, self.wake) = (multi, wake) }

    var isEmpty: Bool { transfers.isEmpty }

    func obey(_ command: NetworkThread.Command) {
        switch command {
        case .start(let number, let request, let channel): start(number, request, channel)
        case .cancel(let number):
            guard let transfer = transfers[number] else { return }
            end(transfer, .failure(.fetchCancelled))
        case .goOn(let number): if let transfer = transfers[number] { goOn(transfer) }
        case .pour(let number, let pipe): if let transfer = transfers[number] { pour(transfer, into: pipe) }
        case .stop: isStopped = true
        }
    }

    private func start(_ number: UInt64, _ request: TransferRequest, _ channel: ResponseChannel) {
        do throws(BridgeError) {
            let wake = wake
            let transfer = try Transfer(number, request, channel, on: try handle(), lookups) { wake(number) }
            guard multi.add(transfer) else { throw BridgeError(.internal, "libcurl did not take the transfer") }
            transfers[number] = transfer
        } catch {
            channel.finish(.failure(error))
            changed.append(channel)
        }
    }

    private func handle() throws(BridgeError) -> EasyHandle {
        if let easy = spare.popLast() { return easy }
        return try EasyHandle()
    }

    /// The body goes into a pipe from now on: first what waits for the reader.
    private func pour(_ transfer: Transfer, into pipe: Int32) {
        transfer.pour(into: pipe)
        goOn(transfer)
    }

    /// Waits for news of libcurl's and for commands, and for room in the pipes.
    func wait(atMost duration: Duration) {
        let blocked = transfers.values.filter { $0.outlet?.isBlocked == true }
        var pipes = blocked.compactMap { $0.outlet }.map {
            curl_waitfd(fd: $0.descriptor, events: Int16(CURL_WAIT_POLLOUT), revents: 0)
        }
        multi.wait(atMost: duration, &pipes)
        for (transfer, pipe) in zip(blocked, pipes) where pipe.revents != 0 { goOn(transfer) }
    }

    /// The reader has made room, or the request's body has bytes.
    private func goOn(_ transfer: Transfer) {
        if transfer.isReceivingPaused {
            transfer.isReceivingPaused = false
            transfer.isActive = true
            _ = transfer.drain()
        }
        noteNews(transfer)
        if let fault = transfer.fault, transfer.hasStarted { return end(transfer, .failure(fault)) }
        if let result = transfer.result {
            if !transfer.isReceivingPaused { finish(transfer, result) }
            return
        }
        if transfer.isSendingPaused {
            transfer.isSendingPaused = false
            transfer.isActive = true
        }
        // Calls the callbacks that were held back.
        curl_easy_pause(transfer.handle, transfer.isReceivingPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        if let fault = transfer.fault, transfer.hasStarted { end(transfer, .failure(fault)) }
    }

    /// One turn: what can be done is done, and readers learn of it.
    ///
    /// - Returns: When it was over.
    func advance() -> ContinuousClock.Instant {
        multi.perform { transfer, result in
            transfer.result = result
            finish(transfer, result)
        }
        let now = ContinuousClock.now
        patience = NetworkThread.idleTime
        for transfer in transfers.values {
            transfer.noteActivity(at: now)
            let left = transfer.patience(at: now)
            if left <= .zero {
                end(transfer, .failure(transfer.timeout()))
            } else {
                patience = min(patience, left)
                if transfer.hasNews { noteNews(transfer) }
                transfer.report(at: now)
            }
        }
        for channel in changed { channel.wake() }
        changed.removeAll(keepingCapacity: true)
        return now
    }

    private func noteNews(_ transfer: Transfer) {
        transfer.hasNews = false
        changed.append(transfer.channel)
    }

    /// libcurl has ended it. The reader gets the rest of the body first.
    private func finish(_ transfer: Transfer, _ result: CURLcode) {
        if let fault = transfer.fault, result != CURLE_OK { return end(transfer, .failure(fault)) }
        guard transfer.isDropping || transfer.drain() else {
            if let fault = transfer.fault { return end(transfer, .failure(fault)) }
            // `goOn` comes back to it when there is room.
            return noteNews(transfer)
        }
        guard result == CURLE_OK || transfer.isDropping else { return end(transfer, .failure(transfer.error(result))) }
        end(transfer, Result { () throws(BridgeError) in try transfer.summary() })
    }

    private func end(_ transfer: Transfer, _ result: Result<TransferSummary, BridgeError>) {
        // Also where it has begun and ended in one turn.
        transfer.reportPhase()
        multi.remove(transfer)
        transfers[transfer.number] = nil
        let easy = transfer.leaveHandle()
        if spare.count < Self.maximumSpare { spare.append(easy) }
        transfer.channel.finish(result, pouredBytes: transfer.outlet?.byteCount ?? 0)
        transfer.outlet = nil
        noteNews(transfer)
    }

    /// All that is left fails.
    func endAll() {
        for transfer in transfers.values { end(transfer, .failure(.fetchCancelled)) }
        for channel in changed { channel.wake() }
        changed = []
    }
}

extension Transfer {
    /// How long it may still wait; zero: nothing has come or gone for too long. Where it waits for its own reader, or
    /// for the request's body, nobody is late; the time until it is connected is libcurl's to watch.
    fileprivate func patience(at now: ContinuousClock.Instant) -> Duration {
        let untilReport = request.onProgress == nil ? NetworkThread.idleTime : NetworkThread.progressInterval
        guard hasStarted, result == nil, !isReceivingPaused, !isSendingPaused else { return untilReport }
        return min(untilReport, request.idleTimeout - (now - lastActivity))
    }

    fileprivate func summary() throws(BridgeError) -> TransferSummary {
        if !isDropping { try pipeline?.finish() }
        return TransferSummary(
            wireBytes: progress.received, decodedBytes: pipeline?.decodedBytes ?? 0, total: .now - start)
    }

    /// Reports the phase, where somebody wants it and it is another one.
    fileprivate func reportPhase() {
        guard let onPhase = request.onPhase, reportedPhase != progress.phase else { return }
        reportedPhase = progress.phase
        onPhase(progress.phase)
    }

    /// Reports the phase and the progress, where somebody wants them and there is some.
    fileprivate func report(at now: ContinuousClock.Instant) {
        reportPhase()
        guard let onProgress = request.onProgress, reported?.progress != progress else { return }
        if let reported, reported.progress.phase == progress.phase,
            now - reported.at < NetworkThread.progressInterval
        {
            return
        }
        reported = (progress, now)
        onProgress(progress)
    }
}
