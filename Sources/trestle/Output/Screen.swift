import BridgeJSON
import Glibc
import Synchronization

/// Standard output or standard error: a terminal for a user, or a pipe for a program.
struct Screen: Sendable {
    static let output = Screen(STDOUT_FILENO)
    static let error = Screen(STDERR_FILENO)

    let descriptor: Int32
    let isTerminal: Bool
    /// Whether to write text for people instead of lines of JSON for programs.
    var isForPeople: Bool
    /// Whether to show colours: it is a terminal that is not dumb, and NO_COLOR is not set.
    let hasColour: Bool

    /// The ways in which output is lost.
    enum Loss: Sendable {
        /// There is no reader any more, and SIGPIPE is ignored.
        case unread
        /// Standard output cannot be written, for example because the disk is full. It was reported.
        case failed
    }

    private struct State {
        var hasFailed = false
        var onLoss: (@Sendable (Loss) -> Void)?
    }

    private static let state = Mutex(State())

    /// Sets a closure that is called on any thread each time that output is lost.
    static func whenLost(_ body: @escaping @Sendable (Loss) -> Void) { state.withLock { $0.onLoss = body } }

    /// Whether a part of standard output could not be written. The program must not end with the exit status 0.
    static var hasFailed: Bool { state.withLock { $0.hasFailed } }

    /// Occupies closed standard descriptors, so that no file or connection of this program gets their numbers. Reading
    /// and writing them fails with EBADF as before. Must be called first.
    static func occupyClosedDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this descriptor.
            _ = open("/dev/null", mode)
        }
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        isForPeople = isTerminal
        hasColour =
            isTerminal && getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
            && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? true
    }

    /// Shows a result: indented for people, on one line for programs.
    func show(_ value: JSON) {
        guard isForPeople else { return write(line: value) }
        write(JSONPrinter(colour: hasColour).print(value) + "\n")
    }

    /// Writes one line of JSON. On a terminal, control characters are escaped.
    func write(line value: JSON) {
        write((isTerminal ? VisibleText.json(value.text) : value.text) + "\n")
    }

    /// Writes text of other users: unchanged for programs, with control characters except line ends escaped for a
    /// terminal.
    func write(foreign text: String) {
        write(isTerminal || isForPeople ? VisibleText.escaped(text, keepsLines: true) : text)
    }

    /// The width of the terminal in columns; `nil` if it is not a terminal or if its width is unknown.
    var columns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    func bold(_ text: String) -> String { hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// Writes the whole text immediately. If there is no reader any more, SIGPIPE ends the process, or the closure of
    /// ``whenLost(_:)`` is called. Another failure of standard output is reported once.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    guard errno == EAGAIN else { return lose(errno) }
                    // Another program has made the pipe non-blocking.
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    private func lose(_ code: Int32) {
        if code == EPIPE { return Self.state.withLock { $0.onLoss }?(.unread) ?? () }
        // A failure of standard error cannot be reported.
        guard descriptor == STDOUT_FILENO else { return }
        let isFirst = Self.state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
        if isFirst { Failure.complain("standard output cannot be written: \(Failure.reason(code))") }
        Self.state.withLock { $0.onLoss }?(.failed)
    }
}
