import BridgeClient
import BridgeJSON
import EventLoop
import Glibc

/// A task whose calls a command answers: the options are its standard input, its standard output is the result.
@LoopActor
final class CommandTask {
    /// The maximum number of commands in parallel; further calls end with `busy`, because each command is a process.
    private static let maximumRunning = 64
    /// The default maximum result size of a daemon.
    private static let maximumOutputBytes = 1 << 20

    private let command: [String]
    private let timeout: Duration
    private let showErrors: @LoopActor (String) -> Void
    private var runningCount = 0
    private let idle = AsyncSignal<Void>()

    /// - Parameters:
    ///   - timeout: The time between SIGTERM and SIGKILL for a command that is ended.
    ///   - showErrors: Receives the standard error of commands.
    init(
        _ command: [String], timeout: Duration = .seconds(2),
        showErrors: @escaping @LoopActor (String) -> Void = { Screen.error.write(foreign: $0) }
    ) {
        self.command = command
        self.timeout = timeout
        self.showErrors = showErrors
    }

    /// Runs the command for one call.
    /// - Throws: `command.failed` if it cannot start or its exit status is not 0.
    func answer(_ options: JSON, _ call: IncomingCall) async throws -> JSON {
        guard runningCount < Self.maximumRunning else {
            throw BridgeError(
                .busy, "\(Self.maximumRunning) commands run for \(call.task), the maximum",
                data: ["started": false], isTransient: true, retryAfter: .seconds(1))
        }
        runningCount += 1
        defer {
            runningCount -= 1
            if runningCount == 0 { idle.resumeAll(()) }
        }
        let run: CommandRun
        do {
            run = try CommandRun(
                command, environment: Self.environment(of: call), input: options.bytes + [0x0A],
                limitBytes: Self.maximumOutputBytes, timeout: timeout, showErrors: showErrors)
        } catch {
            throw BridgeError(Self.failed, "\(command[0]) could not be started: \(error.reason)")
        }
        let outcome = await run.outcome()
        try Task.checkCancellation()
        return try result(outcome)
    }

    /// Waits until no command is running.
    func finished() async {
        while runningCount > 0, await idle.wait() != nil {}
    }

    private static let failed: ErrorCode = "command.failed"

    private func result(_ outcome: CommandRun.Outcome) throws(BridgeError) -> JSON {
        if outcome.isTooLong {
            throw BridgeError(
                .resultTooLarge, "\(command[0]) wrote more than \(Self.maximumOutputBytes) bytes; it was ended")
        }
        switch outcome.status {
        case .exited(0): break
        case .exited(let code):
            throw BridgeError(
                Self.failed, outcome.lastErrorLine ?? "\(command[0]) ended with \(outcome.status)",
                data: ["exit": .number(JSONNumber(code))])
        case .signalled(let signal):
            throw BridgeError(
                Self.failed, "\(command[0]) was ended by \(outcome.status)",
                data: ["signal": .number(JSONNumber(signal))])
        }
        if outcome.output.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) { return .null }
        do throws(JSONSyntaxError) {
            return try JSON(parsing: outcome.output)
        } catch {
            throw BridgeError(Self.failed, "the output of \(command[0]) is not valid JSON: \(error)")
        }
    }

    /// Returns this process's environment with variables for the caller.
    private static func environment(of call: IncomingCall) -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        variables["TRESTLE_TASK"] = call.task
        variables["TRESTLE_SESSION"] = String(call.caller.session)
        variables["TRESTLE_UID"] = call.caller.uid.map { String($0) }
        variables["TRESTLE_ORIGIN"] = call.caller.origin
        variables["TRESTLE_USER"] = call.caller.user
        return variables
    }
}
