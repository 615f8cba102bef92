import EventLoop
import Glibc

/// The terminal while a command draws on the whole of it: the alternate screen, no echo, and keys without waiting for a
/// line. The previous state is restored when this is closed, and also when the process ends in another way, by a signal
/// or a crash.
@LoopActor
final class LiveTerminal: UnixStreamDelegate {
    /// The reason why a wait ended.
    enum Wake: Sendable {
        /// The time has passed, or the size of the terminal has changed.
        case redraw
        /// The user wants to quit, or the terminal was closed.
        case leave
    }

    private let screen: Screen
    private let keys: UnixStream?
    private var resize: SignalWatcher?
    private var timer: LoopTimer?
    private let waiting = AsyncSignal<Wake>()
    /// An event that occurred while no code waited; `nil` if there is none.
    private var missed: Wake?

    /// Switches the terminal to drawing.
    init(_ screen: Screen) throws {
        self.screen = screen
        keys = try Self.openKeys()
        keys?.delegate = self
        keys?.startReading()
        resize = try SignalWatcher(SIGWINCH) { [weak self] in self?.wake(.redraw) }
        timer = LoopTimer { [weak self] in self?.wake(.redraw) }
        screen.write(TerminalRescue.enter)
    }

    /// Restores the terminal.
    func close() {
        keys?.close()
        resize?.close()
        timer?.close()
        TerminalRescue.restore()
    }

    // MARK: Drawing

    /// The current number of rows and columns.
    var size: (rows: Int, columns: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
            return (24, 80)
        }
        return (Int(size.ws_row), Int(size.ws_col))
    }

    /// Replaces the shown lines without flicker.
    func draw(_ lines: [String]) {
        // Moves to the top left corner; clears the rest of each line, and at the end everything below.
        screen.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    // MARK: Waiting

    /// Waits for a time or until an event occurs; returns `nil` if the Swift task is cancelled.
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

    /// Makes the controlling terminal deliver each key immediately. Returns `nil` if there is no terminal.
    private static func openKeys() throws -> UnixStream? {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            Glibc.close(descriptor)
            return nil
        }
        // `TerminalRescue` keeps this descriptor until the process ends.
        TerminalRescue.arm(descriptor, before)
        var live = before
        live.c_lflag &= ~tcflag_t(ECHO | ICANON)
        // Disables the suspend key, which would leave the terminal in this state. 0 is _POSIX_VDISABLE.
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
