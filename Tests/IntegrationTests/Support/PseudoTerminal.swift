import Glibc
import TestSupport

/// A pseudo-terminal of a test: the test is its user, and a program runs in it.
final class PseudoTerminal {
    private let master: Int32
    /// The program's end. It stays open so that the state of the terminal can be read after the program has ended.
    let slave: Int32
    let path: String
    private var seen: [UInt8] = []

    init(rows: UInt16, columns: UInt16) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0 else { throw TestFailure("there are no pseudo-terminals") }
        // From <asm-generic/ioctls.h>; Swift does not import macros that compute their value.
        let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        var (lock, number) = (Int32(0), Int32(-1))
        guard ioctl(master, setLock, &lock) == 0, ioctl(master, getNumber, &number) == 0 else {
            close(master)
            throw TestFailure("a pseudo-terminal cannot be used")
        }
        path = "/dev/pts/\(number)"
        slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else {
            close(master)
            throw TestFailure("\(path) cannot be opened")
        }
        resize(rows: rows, columns: columns)
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Runs a program in the terminal as a shell would: it is the program's controlling terminal.
    func run(_ program: String, _ arguments: [String], environment: [String] = ["TERM=xterm"]) throws -> SpawnedProcess
    {
        try SpawnedProcess(
            "/usr/bin/setsid", ["--ctty", program] + arguments, environment: environment, input: .descriptor(slave),
            output: .descriptor(slave), errors: .descriptor(slave))
    }

    func resize(rows: UInt16, columns: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Types a text.
    func type(_ text: String) { _ = text.withCString { write(master, $0, strlen($0)) } }

    /// Reads until the terminal shows a text. Returns everything since the previous read.
    func read(until wanted: String) throws -> String {
        let deadline = Deadline()
        while true {
            let text = String(decoding: seen, as: UTF8.self)
            if let range = text.firstRange(of: wanted) {
                let shown = String(text[..<range.upperBound])
                seen.removeFirst(shown.utf8.count)
                return shown
            }
            guard receive(within: deadline.millisecondsLeft), !deadline.isOver else {
                throw TestFailure("the terminal does not show \(wanted.debugDescription), but \(text.debugDescription)")
            }
        }
    }

    /// Returns everything that the terminal has received and that has not been read yet.
    func rest() -> String {
        while receive(within: 0) {}
        defer { seen = [] }
        return String(decoding: seen, as: UTF8.self)
    }

    private func receive(within milliseconds: Int32) -> Bool {
        var state = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, milliseconds) == 1, state.revents & Int16(POLLIN) != 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(master, &bytes, bytes.count)
        guard count > 0 else { return false }
        seen += bytes[..<count]
        return true
    }

    /// Whether the terminal echoes input and passes it on by lines, as a shell needs it.
    var isAsShellsWantIt: Bool {
        var state = termios()
        guard tcgetattr(slave, &state) == 0 else { return false }
        return state.c_lflag & tcflag_t(ECHO) != 0 && state.c_lflag & tcflag_t(ICANON) != 0
    }
}
