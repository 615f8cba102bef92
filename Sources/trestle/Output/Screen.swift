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

    private static let unread = Mutex<(@Sendable () -> Void)?>(nil)

    /// Sets a closure that is called on any thread each time that output has no reader any more. SIGPIPE must be
    /// ignored for this.
    static func whenUnread(_ body: @escaping @Sendable () -> Void) { unread.withLock { $0 = body } }

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
    /// ``whenUnread(_:)`` is called.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    if errno == EPIPE { Self.unread.withLock { $0 }?() }
                    guard errno == EAGAIN else { return }
                    // Another program has made the pipe non-blocking.
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
