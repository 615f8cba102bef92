import CCurl
import TaskKit

/// The transfers of a network's thread. Only that thread uses this.
final class RunningTransfers {
    private let multi: MultiHandle
    /// Makes the thread continue a transfer. Any thread.
    private let wake: @Sendable (UInt64) -> Void
    private var transfers: [UInt64: Transfer] = [:]
    /// Unused handles for the next transfers.
    private var spare: [EasyHandle] = []
    /// The maximum number of unused handles: as many as transfers end in one turn under load. Each takes some KiB.
    private static let maximumSpare = 16
    private let lookups = OpenLookups()
    /// The channels with new events for their readers since the last turn.
    private var changed: [ResponseChannel] = []
    /// The time from the last turn until the next transfer times out or may report progress.
    private(set) var timeToNextEvent = NetworkThread.idleTime
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
            guard multi.add(transfer) else { throw BridgeError(.internal, "libcurl refused the transfer") }
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

    /// Writes the body into a pipe from now on, beginning with the bytes that wait for the reader.
    private func pour(_ transfer: Transfer, into pipe: Int32) {
        transfer.pour(into: pipe)
        goOn(transfer)
    }

    /// Waits for libcurl events, for commands, and for room in the pipes.
    func wait(atMost duration: Duration) {
        let blocked = transfers.values.filter { $0.outlet?.isBlocked == true }
        var pipes = blocked.compactMap { $0.outlet }.map {
            curl_waitfd(fd: $0.descriptor, events: Int16(CURL_WAIT_POLLOUT), revents: 0)
        }
        multi.wait(atMost: duration, &pipes)
        for (transfer, pipe) in zip(blocked, pipes) where pipe.revents != 0 { goOn(transfer) }
    }

    /// Continues a transfer after its reader has made room or the request's body has more bytes.
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
        // Calls the callbacks that were paused.
        curl_easy_pause(transfer.handle, transfer.isReceivingPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        if let fault = transfer.fault, transfer.hasStarted { end(transfer, .failure(fault)) }
    }

    /// Performs one turn: all possible work, and the notification of readers.
    ///
    /// - Returns: The time after the transfers' work.
    func advance() -> ContinuousClock.Instant {
        multi.perform { transfer, result in
            transfer.result = result
            finish(transfer, result)
        }
        let now = ContinuousClock.now
        timeToNextEvent = NetworkThread.idleTime
        for transfer in transfers.values {
            transfer.noteActivity(at: now)
            let left = transfer.remainingTime(at: now)
            if left <= .zero {
                end(transfer, .failure(transfer.timeout()))
            } else {
                timeToNextEvent = min(timeToNextEvent, left)
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

    /// Finishes a transfer that libcurl has ended. The reader receives the rest of the body first.
    private func finish(_ transfer: Transfer, _ result: CURLcode) {
        if let fault = transfer.fault, result != CURLE_OK { return end(transfer, .failure(fault)) }
        guard transfer.isDropping || transfer.drain() else {
            if let fault = transfer.fault { return end(transfer, .failure(fault)) }
            // `goOn` finishes it when there is room.
            return noteNews(transfer)
        }
        guard result == CURLE_OK || transfer.isDropping else { return end(transfer, .failure(transfer.error(result))) }
        end(transfer, Result { () throws(BridgeError) in try transfer.summary() })
    }

    private func end(_ transfer: Transfer, _ result: Result<TransferSummary, BridgeError>) {
        // This covers a transfer that began and ended in one turn.
        transfer.reportPhase()
        multi.remove(transfer)
        transfers[transfer.number] = nil
        let easy = transfer.leaveHandle()
        if spare.count < Self.maximumSpare { spare.append(easy) }
        transfer.channel.finish(result, pouredBytes: transfer.outlet?.byteCount ?? 0)
        transfer.outlet = nil
        noteNews(transfer)
    }

    /// Ends all remaining transfers with an error.
    func endAll() {
        for transfer in transfers.values { end(transfer, .failure(.fetchCancelled)) }
        for channel in changed { channel.wake() }
        changed = []
    }
}

extension Transfer {
    /// Returns the remaining time until the connect timeout, or after the start of the request until the idle timeout;
    /// zero or less if it has expired. The idle timeout does not apply while the transfer waits for its own reader or
    /// for the request's body. libcurl's own connect timeout does not include the wait for one of the host's
    /// connections.
    fileprivate func remainingTime(at now: ContinuousClock.Instant) -> Duration {
        let untilReport = request.onProgress == nil ? NetworkThread.idleTime : NetworkThread.progressInterval
        guard result == nil, !isReceivingPaused, !isSendingPaused else { return untilReport }
        guard hasStarted else { return min(untilReport, request.connectTimeout - (now - start)) }
        return min(untilReport, request.idleTimeout - (now - lastActivity))
    }

    fileprivate func summary() throws(BridgeError) -> TransferSummary {
        if !isDropping { try pipeline?.finish() }
        return TransferSummary(
            wireBytes: progress.received, decodedBytes: pipeline?.decodedBytes ?? 0, total: .now - start)
    }

    /// Reports the phase if it has changed and the request has a callback.
    fileprivate func reportPhase() {
        guard let onPhase = request.onPhase, reportedPhase != progress.phase else { return }
        reportedPhase = progress.phase
        onPhase(progress.phase)
    }

    /// Reports the phase and the progress if they have changed and the request has callbacks.
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
