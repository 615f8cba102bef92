import Glibc
import TestSupport

extension DaemonHome {
    /// Runs the command line against this daemon and waits for its end.
    func trestle(_ arguments: String..., input: String = "") throws -> ProgramRun {
        try trestle(arguments, input: input)
    }

    func trestle(_ arguments: [String], input: String = "") throws -> ProgramRun {
        try run(Paths.program("trestle"), ["--socket", socketPath] + arguments, input: input)
    }
}

/// A command of the command line that runs until it is stopped. Its output is read line by line.
final class Command {
    let process: SpawnedProcess
    private let lines: SocketLineReader
    private let output: Int32
    private let folder: TemporaryFolder

    /// - Parameter environment: Variables in addition to PATH, as NAME=VALUE.
    init(_ home: DaemonHome, _ arguments: String..., environment: [String] = []) throws {
        folder = try TemporaryFolder()
        let ends = try connectedPair()
        defer { close(ends.theirs) }
        output = ends.ours
        lines = SocketLineReader(output)
        process = try SpawnedProcess(
            Paths.program("trestle"), ["--socket", home.socketPath] + arguments, environment: environment,
            output: .descriptor(ends.theirs), errors: .file(folder.file("errors")))
    }

    deinit { close(output) }

    /// The text that the command has written to standard error.
    var errors: String { contents(of: folder.file("errors")) }

    /// Returns the next line of the output; `nil` at its end.
    func line() throws -> String? { try lines.line().map { String(decoding: $0, as: UTF8.self) } }

    /// Sends the command a signal and waits for its end.
    func stop(_ signal: Int32 = SIGTERM) throws -> ProcessEnd {
        process.signal(signal)
        return try process.wait()
    }
}
