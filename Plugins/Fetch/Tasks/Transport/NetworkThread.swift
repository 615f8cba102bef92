import CCurl
import CThread
import Glibc
import Synchronization
import TaskKit

/// The thread that runs the transfers of one user. Connections, resolved names and TLS sessions are not shared with
/// other users. The thread ends after it was idle for a while.
final class NetworkThread: Sendable {
    /// The time that the thread waits for another transfer.
    static let idleTime = Duration.seconds(60)
    /// The minimum interval between progress reports.
    static let progressInterval = Duration.milliseconds(100)

    enum Command: Sendable {
        case start(UInt64, TransferRequest, ResponseChannel)
        /// Ends a transfer. Its reader receives `call.cancelled`.
        case cancel(UInt64)
        /// Continues a transfer: its reader has taken bytes, or the request's body has more bytes.
        case goOn(UInt64)
        /// Writes the body into a pipe as it arrives.
        case pour(UInt64, into: Int32)
        /// Ends all transfers and the thread.
        case stop
    }

    /// A function that runs a closure soon, after the current turn of the loop. Any thread.
    typealias Post = (@escaping @Sendable () -> Void) -> Void

    private struct Inbox {
        var commands: [Command] = []
        /// Whether the thread has been woken up for the commands.
        var isWoken = false
        var isClosed = false

        /// Records that the thread is woken up.
        ///
        /// - Returns: Whether the wake-up is necessary.
        mutating func wake() -> Bool {
            guard !commands.isEmpty, !isWoken else { return false }
            isWoken = true
            return true
        }

        mutating func takeAll() -> [Command] {
            defer { (commands, isWoken) = ([], false) }
            return commands
        }
    }

    private let inbox = Mutex(Inbox())
    private let multi: MultiHandle
    /// Called on the thread when it ends.
    private let onEnd: @Sendable (NetworkThread) -> Void

    /// Starts the thread.
    ///
    /// - Throws: `busy`, if the system provides no thread.
    init(_ name: String, onEnd: @escaping @Sendable (NetworkThread) -> Void) throws(BridgeError) {
        guard let multi = MultiHandle() else { throw Self.noThread }
        self.multi = multi
        self.onEnd = onEnd
        let start = ThreadStart(name: name, thread: self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                // `!`: the pointer that is passed below.
                let start = Unmanaged<ThreadStart>.fromOpaque(argument!).takeRetainedValue()
                cthread_set_name(start.name)
                start.thread.run()
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        guard status == 0 else {
            Unmanaged.passUnretained(start).release()
            multi.free()
            throw Self.noThread
        }
        pthread_detach(thread)
    }

    private static let noThread = BridgeError(
        .busy, "the system cannot create a thread for the transfer", data: ["started": false], isTransient: true,
        retryAfter: .seconds(1))

    /// Submits a command to the thread. Any thread.
    ///
    /// - Parameter post: If given, a posted closure wakes the thread, once for all commands that were submitted by
    ///   then. Waking a sleeping thread for each request took 30 % of the loop's time.
    /// - Returns: False if the thread has ended.
    @discardableResult
    func submit(_ command: Command, post: Post? = nil) -> Bool {
        let (isTaken, isFirst, wakes) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false, false) }
            inbox.commands.append(command)
            let isFirst = inbox.commands.count == 1
            return (true, isFirst, post == nil && inbox.wake())
        }
        // Outside the lock, because the woken thread would wait for it.
        if wakes { multi.wakeUp() }
        if isFirst, let post { post { self.wakeUp() } }
        return isTaken
    }

    private func wakeUp() {
        if inbox.withLock({ $0.wake() }) { multi.wakeUp() }
    }

    private func run() {
        let running = RunningTransfers(multi) { [weak self] number in self?.submit(.goOn(number)) }
        var idleSince = ContinuousClock.now
        while true {
            for command in inbox.withLock({ $0.takeAll() }) { running.obey(command) }
            if running.isStopped { break }
            let now = running.advance()
            if !running.isEmpty { idleSince = now }
            let idleLeft = Self.idleTime - (now - idleSince)
            if running.isEmpty, idleLeft <= .zero, close(onlyIfEmpty: true) { break }
            running.wait(atMost: running.isEmpty ? max(idleLeft, .zero) : running.timeToNextEvent)
        }
        _ = close(onlyIfEmpty: false)
        running.endAll()
        multi.free()
        onEnd(self)
    }

    /// Stops accepting commands.
    ///
    /// - Returns: False if it must be empty and has commands.
    private func close(onlyIfEmpty: Bool) -> Bool {
        inbox.withLock { inbox in
            if onlyIfEmpty, !inbox.commands.isEmpty { return false }
            inbox.isClosed = true
            // Finishes transfers that will not start, so that their readers do not wait.
            for case .start(_, _, let channel) in inbox.takeAll() {
                channel.finish(.failure(.fetchCancelled))
                channel.wake()
            }
            return true
        }
    }
}

/// The argument of a new thread.
private final class ThreadStart: Sendable {
    let name: String
    let thread: NetworkThread

    init(name: String, thread: NetworkThread) { (self.name, self.thread) = (name, thread) }
}
