import Glibc

/// Restores the terminal however the process ends, except by SIGKILL. Armed once, by the command that draws on the
/// terminal.
enum TerminalRescue {
    /// Switches to the alternate screen and hides the cursor.
    static let enter = "\u{1B}[?1049h\u{1B}[?25l"
    private static let leave: StaticString = "\u{1B}[?25h\u{1B}[?1049l"

    /// Signals that end the process, besides SIGINT and SIGTERM, which `Interruption` handles.
    private static let deadlySignals = [
        SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGALRM,
    ]

    /// Data for signal handlers: allocated before they are installed, never freed.
    private struct Armed {
        var descriptor: Int32
        var before: termios
        var isArmed: Bool
    }

    /// The data for the handlers.
    // Written before handlers are installed, and by `restore`, which at worst restores twice.
    private nonisolated(unsafe) static let armed: UnsafeMutablePointer<Armed> = {  // see above
        let armed = UnsafeMutablePointer<Armed>.allocate(capacity: 1)
        armed.initialize(to: Armed(descriptor: -1, before: termios(), isArmed: false))
        return armed
    }()

    /// Restores the terminal at the end from now on.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal, kept open until the process ends.
    ///   - before: The state to restore.
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

    /// Restores the terminal. Safe in a signal handler: makes only system calls.
    static func restore() {
        guard armed.pointee.isArmed else { return }
        armed.pointee.isArmed = false
        _ = write(armed.pointee.descriptor, leave.utf8Start, leave.utf8CodeUnitCount)
        tcsetattr(armed.pointee.descriptor, TCSANOW, &armed.pointee.before)
    }
}
