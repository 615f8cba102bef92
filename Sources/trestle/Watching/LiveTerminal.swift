import EventLoop
import Glibc

/// The terminal while a command draws on all of it: another page of the terminal's memory, no echo, keys without
/// waiting for a line. What it was before comes back when this is closed, and also where the process ends in another
/// way: by a signal, by a fault.
@LoopActor
final class LiveTerminal: UnixStreamDelegate {
    /// Why waiting ended.
    enum Wake: Sendable {
        /// The time is over, or the terminal has another size.
        case redraw
        /// The person wants to leave, or the terminal is gone.
        case leave
    }

    private let screen: Screen
    private let keys: UnixStream?
    private var resize: SignalWatcher?
    private var timer: LoopTimer?
    private let waiting = AsyncSignal<Wake>()
    /// What happened while no one waited.
    private var missed: Wake?

    /// Takes the terminal over.
    init(_ screen: Screen) throws {
        self.screen = screen
        keys = try Self.openKeys()
        keys?.delegate = self
        keys?.startReading()
        resize = try SignalWatcher(SIGWINCH) { [weak self] in self?.wake(.redraw) }
        timer = LoopTimer { [weak self] in self?.wake(.redraw) }
        screen.write(TerminalRescue.enter)
    }

    /// Gives it back.
    func close() {
        keys?.close()
        resize?.close()
        timer?.close()
        TerminalRescue.restore()
    }

    // MARK: Drawing

    /// Rows and columns, as they are now.
    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Shows these lines in place of what was there, without a moment in which nothing is.
    func draw(_ lines: [String]) {
        // To the corner; after each line its rest is cleared, in the end what is below.
        screen.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    // MARK: Waiting

    /// Waits so long, or until something happens; nil where the Swift task is cancelled.
    func wait(_ time: Duration) async -> Wake? {
        if let wake = missed.take() { return wake }
        timer?.schedule(after: time)
        defer { timer?.cancel() }
        return await waiting.wait()
    }

    private func wake(_ wake: Wake) {
        if waiting.isEmpty {
            if missed == nil || wake == .leave { missed = wake }
        } else {
            waiting.resumeAll(wake)
        }
    }

    // MARK: Keys

    /// Makes the controlling terminal hand over each key as it is typed. Nil: there is none to type on.
    private static func openKeys() throws -> UnixStream? {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        // The rescue keeps a descriptor of its own, which stays open to the end.
        TerminalRescue.arm(descriptor, before)
        var live = before
        live.c_lflag &= ~tcflag_t(ECHO | ICANON)
        // Stopped by a key, it would leave the terminal as it is now. 0 is _POSIX_VDISABLE: no key.
        withUnsafeMutableBytes(of: &live.c_cc) { $0[Int(VSUSP)] = 0 }
        tcsetattr(descriptor, TCSAFLUSH, &live)
        return try UnixStream(adopting: UnixSocket(adopting: fcntl(descriptor, F_DUPFD_CLOEXEC, 0)))
    }

    func read(bytes: UnsafeRawBufferPointer) {
        if bytes.contains(where: { $0 | 0x20 == UInt8(ascii: "q") }) { wake(.leave) }
    }

    func endOfInput() { wake(.leave) }
    func hangUp() { wake(.leave) }
    func writable() {}
    func failed(_ error: SystemError) { wake(.leave) }
}
