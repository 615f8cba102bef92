internal import Glibc
internal import MainLoop

/// The connection of one document: raw lines to the daemon and back, on the main thread's loop.
@MainActor
final class PageLink {
    /// The longest line of the daemon's: many times what it takes itself.
    private static let maximumLineBytes = 64 << 20
    /// What is read at once; used within one read.
    private static var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private var output: PageOutput?
    private var input: LoopSource?
    private var partial: [UInt8] = []
    private var isPaused = false
    /// Gets whole lines, each with its end.
    private let onLines: @MainActor ([UInt8]) -> Void
    /// Called once, when the daemon has ended the connection or it failed; never by ``close()``.
    private let onEnd: @MainActor () -> Void

    /// Connects; nil where nobody listens there, or not at once.
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
        guard let output, input == nil, !isPaused else { return }
        input = LoopSource.watching(output.descriptor, for: .input, as: "daemon's lines") { [weak self] in
            self?.read(output.descriptor)
        }
    }

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

    /// Closes the connection when what waits has been sent: its calls are cancelled then.
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

    /// Sends a line. Where the daemon does not read, it waits; a page that goes on beyond the bound is cut off.
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
