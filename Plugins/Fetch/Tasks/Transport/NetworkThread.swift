import CCurl
import CThread
import Glibc
import Synchronization
import TaskKit

/// The thread on which the transfers of one user run: connections, names and TLS sessions are shared with nobody else.
/// It ends when it has had nothing to do for a while.
final class NetworkThread: Sendable {
    /// How long it waits for another transfer.
    static let idleTime = Duration.seconds(60)
    /// How often progress is reported at most.
    static let progressInterval = Duration.milliseconds(100)

    enum Command: Sendable {
        case start(UInt64, TransferRequest, ResponseChannel)
        /// Ends a transfer; its reader gets `call.cancelled`.
        case cancel(UInt64)
        /// A reader has taken bytes, or a request's body has some.
        case goOn(UInt64)
        /// Writes the body into a pipe as it comes.
        case pour(UInt64, into: Int32)
        /// Ends all.
        case stop
    }

    /// What runs something soon, behind what the loop does now. Any thread.
    typealias Post = (@escaping @Sendable () -> Void) -> Void

    private struct Inbox {
        var commands: [Command] = []
        /// Whether the thread has been woken up for them.
        var isWoken = false
        var isClosed = false

        /// Notes that the thread is woken up.
        ///
        /// - Returns: Whether that is necessary.
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
    /// Called on the thread when it has ended.
    private let onEnd: @Sendable (NetworkThread) -> Void

    /// - Throws: `busy`, where the system gives no thread.
    init(_ name: String, onEnd: @escaping @Sendable (NetworkThread) -> Void) throws(BridgeError) {
        guard let multi = MultiHandle() else { throw Self.noThread }
        self.multi = multi
        self.onEnd = onEnd
        let start = ThreadStart(name: name, thread: self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                // `!`: the pointer given below.
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
        .busy, "the system gives no thread for the transfer", isTransient: true, retryAfter: .seconds(1))

    /// Has the thread do something. Any thread.
    ///
    /// - Parameter post: Where it is given, the thread is woken up by what is posted: once for all commands that the
    ///   loop has by then. The wake-up of a thread that sleeps took 30 % of the loop's time, once for each request.
    /// - Returns: Whether it will: it may have ended.
    @discardableResult
    func submit(_ command: Command, post: Post? = nil) -> Bool {
        let (isTaken, isFirst, wakes) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false, false) }
            inbox.commands.append(command)
            let isFirst = inbox.commands.count == 1
            return (true, isFirst, post == nil && inbox.wake())
        }
        // Not under the lock, for which it would wait then.
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
            running.wait(atMost: running.isEmpty ? max(idleLeft, .zero) : running.patience)
        }
        _ = close(onlyIfEmpty: false)
        running.endAll()
        multi.free()
        onEnd(self)
    }

    /// Takes no more commands.
    ///
    /// - Returns: False where there are some.
    private func close(onlyIfEmpty: Bool) -> Bool {
        inbox.withLock { inbox in
            if onlyIfEmpty, !inbox.commands.isEmpty { return false }
            inbox.isClosed = true
            // What nobody will start must not be waited for.
            for case .start(_, _, let channel) in inbox.takeAll() {
                channel.finish(.failure(.fetchCancelled))
                channel.wake()
            }
            return true
        }
    }
}

/// What a new thread is given.
private final class ThreadStart: Sendable {
    let name: String
    let thread: NetworkThread

    init(name: String, thread: NetworkThread) { (self.name, self.thread) = (name, thread) }
}
