import Foundation
import Testing

@testable import EventLoop

@Suite("The processor time of a child process", .timeLimit(.minutes(20))) @LoopActor
struct ProcessorShareTests {
    /// In so long a time any child has run for less than a hundredth of it.
    private let long = Duration.seconds(1 << 30)

    @Test("is too little where it can run and hardly has")
    func starved() async throws {
        let child = try await Self.start()
        defer { child.kill(SIGKILL) }
        kill(child.pid, SIGCONT)
        var share = ProcessorShare(of: child.pid)
        #expect(Self.isStarved(&share, over: long))
    }

    @Test("is enough where it has run for a hundredth of the time")
    func served() async throws {
        let child = try await Self.start()
        defer { child.kill(SIGKILL) }
        kill(child.pid, SIGCONT)
        var share = ProcessorShare(of: child.pid)
        #expect(!Self.isStarved(&share, over: .zero))
    }

    @Test("is enough where it has been stopped, or has ended", arguments: [false, true])
    func cannotRun(hasEnded: Bool) async throws {
        let child = try await Self.start()
        defer { child.kill(SIGKILL) }
        var share = ProcessorShare(of: child.pid)
        if hasEnded {
            child.kill(SIGKILL)
            _ = await child.exitStatus()
        } else {
            while try !String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8).contains(") T ") {
                await turns()
            }
        }
        #expect(!Self.isStarved(&share, over: long))
    }

    private static func isStarved(_ share: inout ProcessorShare, over time: Duration) -> Bool {
        share.isStarved(over: time)
    }

    /// A child that runs without end once it is continued: until then it takes no time of the tests beside this one. It
    /// closes inherited descriptors: other tests wait for the end of their pipes.
    private static func start() async throws -> ChildProcess {
        let program = "import os; os.closerange(3, 1 << 16); print(1, flush=True)\nwhile True: pass"
        var options = ChildProcess.Options(file: "python3", arguments: ["-c", program])
        options.standardOutput = .pipe
        let child = try ChildProcess.spawn(options)
        let output = try #require(child.standardOutput)
        let recorder = Recorder()
        recorder.onReport = { _ in kill(child.pid, SIGSTOP) }
        output.delegate = recorder
        output.startReading()
        await recorder.wait { !$0.received.isEmpty }
        output.close()
        return child
    }
}
