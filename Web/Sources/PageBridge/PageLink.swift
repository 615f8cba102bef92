internal import Glibc
internal import MainLoop

/// The connection of one document: raw lines to the daemon and back, on the main thread's loop.
@MainActor
final class PageLink {
    /// Bytes that the daemon has not read yet; beyond, the page sends faster than it may.
    private static let maximumQueuedBytes = 8 << 20
    /// The longest line of the daemon's: many times what it takes itself.
    private static let maximumLineBytes = 64 << 20
    /// What is read at once; used within one read.
    private static var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private let descriptor: Int32
    private var input: LoopSource?
    private var output: LoopSource?
    private var queued: [UInt8] = []
    /// How many bytes at the beginning of `queued` have been sent.
    private var sentBytes = 0
    private var partial: [UInt8] = []
    private var isPaused = false
    /// Gets whole lines, each with its end.
    private let onLines: @MainActor ([UInt8]) -> Void
    /// Called once, when the daemon has ended the connection or it failed; never by ``close()``.
    private let onEnd: @MainActor () -> Void

    /// Connects; nil where nobody listens there, or not at once.
    init?(path: String, onLines: @escaping @MainActor ([UInt8]) -> Void, onEnd: @escaping @MainActor () -> Void) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.onLines = onLines
        self.onEnd = onEnd
        guard descriptor >= 0 else { return nil }
        guard Self.connect(descriptor, path), fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        watchInput()
    }

    isolated deinit { close() }

    /// The kernel takes the connection into the listener's queue at once, or refuses it.
    private static func connect(_ descriptor: Int32, _ path: String) -> Bool {
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func watchInput() {
        guard isOpen, input == nil, !isPaused else { return }
        input = LoopSource.watching(descriptor, for: .input, as: "daemon's lines") { [weak self] in self?.read() }
    }

    private var isOpen = true

    /// Stops reading, or goes on: what comes meanwhile waits in the daemon.
    func setPaused(_ isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        if isPaused {
            input?.cancel()
            input = nil
        } else {
            watchInput()
        }
    }

    /// Closes the connection: its calls are cancelled.
    func close() {
        guard isOpen else { return }
        isOpen = false
        input?.cancel()
        output?.cancel()
        Glibc.close(descriptor)
    }

    private func end() {
        guard isOpen else { return }
        close()
        onEnd()
    }

    // MARK: To the daemon

    /// Sends a line. Where the daemon does not read, it waits; a page that goes on beyond the bound is cut off.
    func send(_ line: [UInt8]) {
        guard isOpen else { return }
        queued += line
        queued.append(0x0A)
        if output == nil { flush() }
        if queued.count - sentBytes > Self.maximumQueuedBytes { end() }
    }

    private func flush() {
        let sent = queued.withUnsafeBytes { all in
            let rest = UnsafeRawBufferPointer(rebasing: all[sentBytes...])
            return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
        }
        if sent < 0, errno != EAGAIN, errno != EINTR { return end() }
        sentBytes += max(0, sent)
        // No earlier: what is left is moved, which takes as long as it is long.
        if sentBytes > queued.count / 2 {
            queued.removeFirst(sentBytes)
            sentBytes = 0
        }
        if queued.isEmpty {
            output?.cancel()
            output = nil
        } else if output == nil {
            output = LoopSource.watching(descriptor, for: .output, as: "page's lines") { [weak self] in self?.flush() }
        }
    }

    // MARK: From the daemon

    private func read() {
        let count = Self.buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0 else { return end() }
        let bytes = Array(Self.buffer[..<count])
        guard let last = LineEnds.last(in: bytes[...]) else {
            partial += bytes
            if partial.count > Self.maximumLineBytes { end() }
            return
        }
        let lines = last == count - 1 && partial.isEmpty ? bytes : partial + bytes[...last]
        partial = Array(bytes[(last + 1)...])
        onLines(lines)
    }
}
