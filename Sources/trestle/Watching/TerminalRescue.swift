import Glibc

/// Puts the terminal back as it was, however the process ends, but by SIGKILL. Armed once, by the one command that
/// takes the terminal over.
enum TerminalRescue {
    /// The other page, and no cursor.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leave: StaticString = "\u{1B}[?25h\u{1B}[?1049l"

    /// Signals that end the process, beside SIGINT and SIGTERM, which `Interruption` turns into an orderly end.
    private static let deadlySignals = [
        SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM,
    ]

    /// What a signal handler reads: allocated before there is one, never given back.
    private struct Armed {
        var descriptor: Int32
        var before: termios
        var isArmed: Bool
    }

    /// What the handlers read.
    // Written before handlers are installed, and by `restore`, which at worst does the same twice.
    private nonisolated(unsafe) static let armed: UnsafeMutablePointer<Armed> = {  // see above
        let armed = UnsafeMutablePointer<Armed>.allocate(capacity: 1)
        armed.initialize(to: Armed(descriptor: -1, before: termios(), isArmed: false))
        return armed
    }()

    /// From here on the terminal comes back.
    ///
    /// - Parameters:
    ///   - descriptor: the terminal, kept open to the end of the process.
    ///   - before: how it is to be.
    static func arm(_ descriptor: Int32, _ before: termios) {
        armed.pointee = Armed(descriptor: descriptor, before: before, isArmed: true)
        atexit { TerminalRescue.restore() }
        for signal in deadlySignals {
            Glibc.signal(signal) { number in
                TerminalRescue.restore()
                Glibc.signal(number, SIG_DFL)
                raise(number)
            }
        }
    }

    /// Puts it back. Safe in a signal handler: system calls alone.
    static func restore() {
        guard armed.pointee.isArmed else { return }
        armed.pointee.isArmed = false
        _ = write(armed.pointee.descriptor, leave.utf8Start, leave.utf8CodeUnitCount)
        tcsetattr(armed.pointee.descriptor, TCSANOW, &armed.pointee.before)
    }
}
