import Foundation
import Testing

@testable import EventLoop

@Suite("A child process beside one that uses its processor without end") @LoopActor
struct ProcessorShareTests {
    /// What a child does. All of them run on the first processor that this process may use, and hold no descriptors of
    /// other tests: who waits for the end of one of those would wait for this test.
    private enum Work: String {
        case loops = "while True: pass"
        case waits = "sys.stdin.read()"
        case ends = ""

        var program: String {
            """
            import os, sys
            os.closerange(3, 1 << 16)
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            if "idle" in sys.argv: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            print("ready", flush=True)
            \(rawValue)
            """
        }
    }

    @Test("is starved where the kernel prefers the other")
    func idleClass() async throws {
        #expect(try await isStarved(.loops, isIdleClass: true))
    }

    @Test("is not starved where both have their turns")
    func sameClass() async throws {
        #expect(try await !isStarved(.loops, isIdleClass: false))
    }

    @Test("is not starved where it waits for something, or has been stopped", arguments: [false, true])
    func waits(isStopped: Bool) async throws {
        #expect(try await !isStarved(isStopped ? .loops : .waits, isIdleClass: true, isStopped: isStopped))
    }

    @Test("is not starved where it has ended")
    func ended() async throws {
        let child = try await Self.start(.ends)
        _ = await child.exitStatus()
        var share = ProcessorShare(of: child.pid)
        let isStarved = share.isStarved(over: .seconds(1))
        #expect(!isStarved)
    }

    private func isStarved(_ work: Work, isIdleClass: Bool, isStopped: Bool = false) async throws -> Bool {
        let child = try await Self.start(work, isIdleClass: isIdleClass)
        defer { child.kill(SIGKILL) }
        if isStopped {
            kill(child.pid, SIGSTOP)
            while try !String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8).contains(") T ") {
                await turns()
            }
        }
        let other = try await Self.start(.loops)
        defer { other.kill(SIGKILL) }
        var share = ProcessorShare(of: child.pid)
        let time = Duration.milliseconds(300)
        let end = Self.used(by: other.pid) + time
        while Self.used(by: other.pid) < end { await turns() }
        return share.isStarved(over: time)
    }

    /// Starts a child, and waits for its first output, or its end.
    private static func start(_ work: Work, isIdleClass: Bool = false) async throws -> ChildProcess {
        var options = ChildProcess.Options(
            file: "python3", arguments: ["-c", work.program] + (isIdleClass ? ["idle"] : []))
        options.standardInput = .pipe
        options.standardOutput = .pipe
        let child = try ChildProcess.spawn(options)
        let output = try #require(child.standardOutput)
        let recorder = Recorder()
        output.delegate = recorder
        output.startReading()
        await recorder.wait { !$0.reports.isEmpty }
        output.close()
        return child
    }

    private static func used(by pid: pid_t) -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
