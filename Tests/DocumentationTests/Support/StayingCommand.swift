import Foundation
import Glibc
import TestSupport

/// A command that runs until it is interrupted, and its output.
final class StayingCommand {
    private let process: SpawnedProcess
    private let output: Int32
    private let lines: SocketLineReader
    private var said: [String] = []

    /// - Parameter arguments: The arguments of /bin/sh.
    init(_ arguments: [String], environment: [String], in folder: String) throws {
        let ends = try connectedPair()
        defer { close(ends.theirs) }
        output = ends.ours
        lines = SocketLineReader(output)
        process = try SpawnedProcess(
            "/bin/sh", arguments, environment: environment, folder: folder, output: .descriptor(ends.theirs),
            errors: .descriptor(ends.theirs))
    }

    deinit {
        process.signal(SIGINT)
        _ = try? process.wait()
        close(output)
    }

    /// Reads until a line matches the pattern, in which each … represents any text.
    func says(_ pattern: String) throws {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false).map(String.init)
        while let bytes = try lines.line(Deadline(.seconds(900))) {
            let line = String(decoding: bytes, as: UTF8.self)
            said.append(line)
            if Self.fits(line, parts) { return }
        }
        throw TestFailure("the first terminal did not say \(pattern), but:\n\(said.joined(separator: "\n"))")
    }

    /// Whether a line consists of these parts, with any text between them.
    private static func fits(_ line: String, _ parts: [String]) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return [line] == parts }
        guard line.hasPrefix(first) else { return false }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// Ends the command with SIGINT, like ^C.
    ///
    /// - Parameter statuses: The accepted ends.
    func interrupt(_ statuses: [ProcessEnd] = [.exited(130)]) throws {
        process.signal(SIGINT)
        let end = try process.wait()
        guard statuses.contains(end) else { throw TestFailure("the first terminal's command ended with \(end)") }
    }
}
