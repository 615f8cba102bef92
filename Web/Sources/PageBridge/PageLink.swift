internal import Glibc
internal import MainLoop

/// The connection of one document: raw lines to and from the daemon, on the main thread's loop.
@MainActor
final class PageLink {
    /// The maximum length of a line from the daemon: many times the maximum that the daemon accepts.
    private static let maximumLineBytes = 64 << 20
    /// The buffer of one read.
    private static var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private var output: PageOutput?
    private var input: LoopSource?
    private var partial: [UInt8] = []
    private var isPaused = false
    /// Receives whole lines, each with its line end.
    private let onLines: @MainActor ([UInt8]) -> Void
    /// Called once, when the daemon has closed the connection or it has failed; not called by ``close()``.
    private let onEnd: @MainActor () -> Void

    /// Connects; `nil` if no daemon listens there, or its queue is full.
    init?(path: String, onLines: @escaping @MainActor ([UInt8]) -> Void, onEnd: @escaping @MainActor () -> Void) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.onLines = onLines
        self.onEnd = onEnd
        guard descriptor >= 0 else { return nil }
        guard Self.connect(descriptor, path), fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        output = PageOutput(descriptor) { [weak self] in self?.end() }
        watchInput()
    }

    isolated deinit { close() }

    /// Connects the socket. The kernel adds the connection to the listener's queue immediately, or refuses it.
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
        guard let output, input == nil, !isPaused else { return }
        input = LoopSource.watching(output.descriptor, for: .input, as: "daemon's lines") { [weak self] in
            self?.read(output.descriptor)
        }
    }

    /// Stops or resumes reading; meanwhile output waits in the daemon.
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

    /// Closes the connection after the waiting lines have been sent; its calls are then cancelled.
    func close() {
        input?.cancel()
        output?.finish()
        output = nil
    }

    private func end() {
        guard let output else { return }
        input?.cancel()
        self.output = nil
        output.close()
        onEnd()
    }

    /// Sends a line. It waits if the daemon does not read; the connection of a page that exceeds the limit is closed.
    func send(_ line: [UInt8]) { output?.send(line) }

    private func read(_ descriptor: Int32) {
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
