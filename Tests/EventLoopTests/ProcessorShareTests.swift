import Foundation
import Testing

@testable import EventLoop

@Suite("A child process beside one that uses its processor without end") @LoopActor
struct ProcessorShareTests {
    private static let busy = "echo ready; while :; do :; done"

    @Test("is starved where the kernel prefers the other")
    func idleClass() async throws {
        #expect(try await isStarved("chrt --idle 0", Self.busy))
    }

    @Test("is not starved where both have their turns")
    func sameClass() async throws {
        #expect(try await !isStarved("", Self.busy))
    }

    @Test("is not starved where it waits for something, or has been stopped", arguments: [false, true])
    func waits(isStopped: Bool) async throws {
        #expect(try await !isStarved("chrt --idle 0", isStopped ? Self.busy : "echo ready; read nothing", isStopped))
    }

    @Test("is not starved where it has ended")
    func ended() async throws {
        let child = try await Self.start("exec true")
        _ = await child.exitStatus()
        var share = ProcessorShare(of: child.pid)
        let isStarved = share.isStarved(over: .seconds(1))
        #expect(!isStarved)
    }

    /// - Parameter scheduling: the command that sets it.
    private func isStarved(_ scheduling: String, _ script: String, _ isStopped: Bool = false) async throws -> Bool {
        // Both on the first processor that this process may use.
        let pinned = "exec taskset --cpu-list $(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')"
        let child = try await Self.start("\(pinned) \(scheduling) sh -c '\(script)'")
        defer { child.kill(SIGKILL) }
        if isStopped {
            kill(child.pid, SIGSTOP)
            while try !String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8).contains(") T ") {
                await turns()
            }
        }
        let other = try await Self.start("\(pinned) sh -c '\(Self.busy)'")
        defer { other.kill(SIGKILL) }
        var share = ProcessorShare(of: child.pid)
        let time = Duration.milliseconds(300)
        let end = Self.used(by: other.pid) + time
        while Self.used(by: other.pid) < end { await turns() }
        return share.isStarved(over: time)
    }

    /// Starts a shell, and waits for its first output.
    private static func start(_ script: String) async throws -> ChildProcess {
        var options = ChildProcess.Options(file: "/bin/sh", arguments: ["-c", script])
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
