import Glibc
import TestSupport

extension DaemonHome {
    /// Runs the command line against this daemon, to its end.
    func trestle(_ arguments: String..., input: String = "") throws -> ProgramRun {
        try trestle(arguments, input: input)
    }

    func trestle(_ arguments: [String], input: String = "") throws -> ProgramRun {
        try run(Paths.program("trestle"), ["--socket", socketPath] + arguments, input: input)
    }
}

/// A command of the command line that runs until it is asked to end; what it writes is read line by line.
final class Command {
    let process: SpawnedProcess
    private let lines: SocketLineReader
    private let output: Int32
    private let folder: TemporaryFolder

    /// - Parameter environment: variables beside PATH: NAME=VALUE.
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

    /// What it has written to standard error.
    var errors: String { contents(of: folder.file("errors")) }

    /// The next line that it writes; nil at the end of its output.
    func line() throws -> String? { try lines.line().map { String(decoding: $0, as: UTF8.self) } }

    /// Sends it a signal to end, and waits.
    func stop(_ signal: Int32 = SIGTERM) throws -> ProcessEnd {
        process.signal(signal)
        return try process.wait()
    }
}
