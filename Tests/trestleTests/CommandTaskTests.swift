import BridgeJSON
import EventLoop
import Foundation
import Testing

@testable import BridgeClient
@testable import trestle

@Suite(.timeLimit(.minutes(20))) @LoopActor final class CommandTaskTests {
    /// The text that commands wrote to standard error.
    private var errors = ""

    @Test("Options go to standard input; standard output is the result")
    func echo() async throws {
        #expect(try await answer("cat", options: ["a": [1, "x"]]) == ["a": [1, "x"]])
        #expect(try await answer("true", options: "unread") == nil)
        let large = JSON.string(String(repeating: "x", count: 300_000))
        #expect(try await answer("cat", options: large) == large)
    }

    @Test("The command gets the caller in environment variables")
    func environment() async throws {
        let script =
            #"printf '"%s %s %s %s %s"' $TRESTLE_TASK $TRESTLE_SESSION $TRESTLE_UID $TRESTLE_ORIGIN $TRESTLE_USER"#
        #expect(try await answer(script) == "work 3 1000 local ann")
    }

    @Test("An exit status other than 0 fails the call with the last line of standard error")
    func failure() async throws {
        let error = try await failure("echo first >&2; echo the reason >&2; echo >&2; exit 3")
        #expect(error == BridgeError("command.failed", "the reason", data: ["exit": 3]))
        #expect(errors == "first\nthe reason\n\n")
        #expect(try await failure("exit 4").message == "/bin/sh ended with exit status 4")
        #expect(try await failure("kill -9 $$").data == ["signal": 9])
        #expect(try await failure("echo no JSON").code == "command.failed")
        let missing = await #expect(throws: BridgeError.self) {
            try await CommandTask(["/no/such/program"]).answer(nil, incomingCall())
        }
        #expect(missing?.message == "/no/such/program could not be started: no such file or directory (ENOENT)")
    }

    @Test("A command that writes more than the limit is ended")
    func tooLong() async throws {
        #expect(try await failure("yes").code == .resultTooLarge)
    }

    @Test("A cancelled call ends the command and its children, even if they ignore SIGTERM")
    func cancelled() async throws {
        let directory = NSTemporaryDirectory() + "trestle-\(UUID().uuidString.prefix(13))"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let fifo = directory + "/started"
        try #require(mkfifo(fifo, 0o600) == 0)
        let script = "trap '' TERM; echo > \(fifo); while :; do sleep 1; done"
        let task = CommandTask(["/bin/sh", "-c", script], timeout: .milliseconds(50))
        let call = Task { try await task.answer(nil, incomingCall()) }
        // Opening the pipe blocks until the command opens it too.
        await BlockingWork.run { _ = close(open(fifo, O_RDONLY)) }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await task.finished()
    }

    @Test("A background process of a command does not delay the call")
    func leftBehind() async throws {
        #expect(try await answer("sleep 5 & echo 1") == 1)
    }

    private func answer(_ script: String, options: JSON = nil) async throws -> JSON {
        try await CommandTask(["/bin/sh", "-c", script], showErrors: { self.errors += $0 })
            .answer(options, incomingCall())
    }

    private func failure(_ script: String) async throws -> BridgeError {
        let error = await #expect(throws: BridgeError.self) { try await answer(script) }
        return try #require(error)
    }
}

/// Returns a call as the daemon forwards it.
private func incomingCall() -> IncomingCall {
    IncomingCall(
        task: "work", caller: .init(["session": 3, "uid": 1_000, "origin": "local", "user": "ann"]), deadline: nil,
        wantsProgress: false, isOneWay: false, id: nil, report: nil)
}
