import ArgumentParser
import BridgeJSON
import EventLoop
import Glibc

/// Reads passwords: on a terminal without showing them, otherwise one line of standard input.
enum PasswordPrompt {
    /// Reads a new password; on a terminal, asks for it twice.
    /// - Throws: An error with a sentence for the user, or `CancellationError` after a signal.
    static func newPassword(for user: String) async throws -> String {
        guard StandardInput.isTerminal else {
            guard let line = readLine(), !line.isEmpty else {
                throw PasswordError("standard input has no line with a password")
            }
            return line
        }
        let password = try await TerminalSecret.ask("New password for \(PlainText.line(user)): ")
        guard !password.isEmpty else { throw PasswordError("the password is empty; nothing was changed") }
        guard try await TerminalSecret.ask("Again: ") == password else {
            throw PasswordError("the two passwords differ; nothing was changed")
        }
        return password
    }
}

/// The reason why there is no password.
struct PasswordError: LocalFailure {
    static let code: ErrorCode = "password.missing"

    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Reads a line from the controlling terminal without showing it.
@LoopActor
final class TerminalSecret: UnixStreamDelegate {
    private let stream: UnixStream
    private var line: [UInt8] = []
    private let waiting = AsyncSignal<Bool>()
    private var isComplete: Bool?

    static func ask(_ prompt: String) async throws -> String {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PasswordError("there is no terminal on which to ask for the password") }
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            close(descriptor)
            throw PasswordError("the terminal cannot be asked for the password")
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO)
        silent.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(descriptor, TCSAFLUSH, &silent)
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &before)
            close(descriptor)
        }
        _ = prompt.withCString { write(descriptor, $0, strlen($0)) }
        do {
            return try await TerminalSecret(dup(descriptor)).answer()
        } catch {
            // The user has not typed a line end.
            _ = write(descriptor, "\n", 1)
            throw error
        }
    }

    private init(_ descriptor: Int32) throws(SystemError) {
        stream = try UnixStream(adopting: UnixSocket(adopting: descriptor))
        stream.delegate = self
        stream.startReading()
    }

    private func answer() async throws -> String {
        defer { stream.close() }
        let isComplete: Bool?
        if let known = self.isComplete { isComplete = known } else { isComplete = await waiting.wait() }
        guard let isComplete else { throw CancellationError() }
        guard isComplete else { throw PasswordError("the terminal ended before the password") }
        return String(decoding: line, as: UTF8.self)
    }

    func read(bytes: UnsafeRawBufferPointer) {
        if let end = bytes.firstIndex(of: 0x0A) {
            line += bytes[..<end]
            finish(true)
        } else {
            line += bytes
        }
    }

    func endOfInput() { finish(false) }
    func hangUp() { finish(false) }
    func writable() {}
    func failed(_ error: SystemError) { finish(false) }

    private func finish(_ isComplete: Bool) {
        guard self.isComplete == nil else { return }
        self.isComplete = isComplete
        waiting.resumeAll(isComplete)
    }
}
