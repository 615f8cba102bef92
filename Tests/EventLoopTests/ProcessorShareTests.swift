import Foundation
import Testing

@testable import EventLoop

@Suite("The processor time of a child process", .timeLimit(.minutes(20))) @LoopActor
struct ProcessorShareTests {
    /// A time so long that any child has run for less than a hundredth of it.
    private let long = Duration.seconds(1 << 30)

    @Test("is too little if the child can run but hardly has")
    func starved() async throws {
        let child = try await Self.start()
        defer { child.kill(SIGKILL) }
        kill(child.pid, SIGCONT)
        var share = ProcessorShare(of: child.pid)
        #expect(Self.isStarved(&share, over: long))
    }

    @Test("is enough if the child has run for a hundredth of the time")
    func served() async throws {
        let child = try await Self.start()
        defer { child.kill(SIGKILL) }
        kill(child.pid, SIGCONT)
        var share = ProcessorShare(of: child.pid)
        #expect(!Self.isStarved(&share, over: .zero))
    }

    @Test("is enough if the child is stopped or has ended", arguments: [false, true])
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

    /// Starts a child that runs without end once it is continued; until then it uses no processor time. It closes
    /// inherited descriptors, because other tests wait for the end of their pipes.
    private static func start() async throws -> ChildProcess {
        let program = "import os; os.closerange(3, 1 << 16); os.write(1, b'1')\nwhile True: pass"
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
