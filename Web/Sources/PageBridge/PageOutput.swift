internal import Glibc
internal import MainLoop

/// The output of one document to the daemon, and the descriptor of its connection. Lines wait here while the daemon
/// does not read. On the main thread's loop.
@MainActor
final class PageOutput {
    /// The maximum number of waiting bytes of a document; beyond it, the connection fails.
    private static let maximumBytes = 8 << 20
    /// The maximum number of waiting bytes of all documents that were left.
    private static let maximumBytesLeft = 16 << 20
    /// The maximum number of left documents with waiting output.
    private static let maximumLeft = 64
    /// The maximum time that this output may wait.
    private static let maximumTimeLeft = Duration.seconds(10)
    /// The outputs of documents that were left, the oldest first. Nothing else retains them.
    private static var left: [PageOutput] = []
    /// The buffer for the daemon's lines to left documents, which are dropped.
    private static var dropped = [UInt8](repeating: 0, count: 64 << 10)

    let descriptor: Int32
    private var source: LoopSource?
    /// Reads lines for a left document: the daemon stops reading if its answers are not read.
    private var answers: LoopSource?
    private var limit: LoopSource?
    private var isOpen = true
    private var queued: [UInt8] = []
    /// The number of bytes at the beginning of `queued` that have been sent.
    private var sentBytes = 0
    /// Called once, if the connection has failed or too much output waits.
    private var onFailure: (@MainActor () -> Void)?

    /// Takes ownership of the descriptor.
    init(_ descriptor: Int32, onFailure: @escaping @MainActor () -> Void) {
        self.descriptor = descriptor
        self.onFailure = onFailure
    }

    isolated deinit { close() }

    private var waitingBytes: Int { queued.count - sentBytes }

    /// Sends a line, or queues it.
    func send(_ line: [UInt8]) {
        guard isOpen else { return }
        queued += line
        queued.append(0x0A)
        if source == nil { flush() }
        if waitingBytes > Self.maximumBytes { fail() }
    }

    /// Closes the connection after the socket has taken the waiting lines: the document posted them before it was left.
    func finish() {
        onFailure = nil
        guard isOpen, waitingBytes > 0 else { return close() }
        Self.left.append(self)
        limit = .timer(after: Self.maximumTimeLeft, as: "lines of a left page") { [weak self] in self?.close() }
        answers = .watching(descriptor, for: .input, as: "answers to a left page") { [weak self] in
            self?.dropAnswers()
        }
        while Self.left.count > Self.maximumLeft
            || Self.left.reduce(0, { $0 + $1.waitingBytes }) > Self.maximumBytesLeft,
            let oldest = Self.left.first
        { oldest.close() }
    }

    private func dropAnswers() {
        let count = Self.dropped.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count <= 0 { close() }
    }

    /// Closes the connection. Waiting lines are not sent.
    func close() {
        guard isOpen else { return }
        isOpen = false
        source?.cancel()
        answers?.cancel()
        limit?.cancel()
        // Not only `close`: a process that is being started has a copy of the descriptor until it executes its program.
        shutdown(descriptor, Int32(SHUT_RDWR))
        Glibc.close(descriptor)
        Self.left.removeAll { $0 === self }
    }

    private func fail() {
        let onFailure = self.onFailure
        self.onFailure = nil
        close()
        onFailure?()
    }

    private func flush() {
        let sent = queued.withUnsafeBytes { all in
            let rest = UnsafeRawBufferPointer(rebasing: all[sentBytes...])
            return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
        if sent < 0, errno != EAGAIN, errno != EINTR { return fail() }
        sentBytes += max(0, sent)
        // Not earlier: the rest is moved, which takes time in proportion to its length.
        if sentBytes > queued.count / 2 {
            queued.removeFirst(sentBytes)
            sentBytes = 0
        }
        if queued.isEmpty {
            source?.cancel()
            source = nil
            if limit != nil { close() }
        } else if source == nil {
            source = LoopSource.watching(descriptor, for: .output, as: "page's lines") { [weak self] in self?.flush() }
        }
    }
}
