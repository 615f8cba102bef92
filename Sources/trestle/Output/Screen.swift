import BridgeJSON
import Glibc
import Synchronization

/// Standard output or standard error: a terminal for a person, or a pipe for a program.
struct Screen: Sendable {
    static let output = Screen(STDOUT_FILENO)
    static let error = Screen(STDERR_FILENO)

    let descriptor: Int32
    let isTerminal: Bool
    /// Whether text for people is written, and no lines of JSON for programs.
    var isForPeople: Bool
    /// A terminal that is to show colours: NO_COLOR is not set, and it is not a dumb one.
    let hasColour: Bool

    private static let unread = Mutex<(@Sendable () -> Void)?>(nil)

    /// Has something done, on any thread, each time that no one reads what is written any longer; SIGPIPE must be
    /// ignored then.
    static func whenUnread(_ body: @escaping @Sendable () -> Void) { unread.withLock { $0 = body } }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        isForPeople = isTerminal
        hasColour =
            isTerminal && getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
            && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? true
    }

    /// A result: indented for people, one line for programs.
    func show(_ value: JSON) {
        guard isForPeople else { return write(line: value) }
        write(JSONPrinter(colour: hasColour).print(value) + "\n")
    }

    /// One line of JSON. On a terminal what that would obey is escaped.
    func write(line value: JSON) {
        write((isTerminal ? VisibleText.json(value.text) : value.text) + "\n")
    }

    /// Text from elsewhere, to the byte for programs. On a terminal what that would obey is escaped, but for line ends.
    func write(foreign text: String) {
        write(isTerminal || isForPeople ? VisibleText.escaped(text, keepsLines: true) : text)
    }

    /// How many columns the terminal has; nil: it is none, or does not say.
    var columns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    func bold(_ text: String) -> String { hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// Writes all of it, immediately. Where no one reads any longer, the process ends by SIGPIPE, as it should, or what
    /// is to be done then is done, if anything is.
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
                    // A pipe that another program made non-blocking.
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
