import BridgeJSON
import Glibc
import TestSupport
import Testing

/// The libraries of Tests/HostilePlugins, one at a time, with a good plugin in the daemon's own process.
@Suite("A hostile library", .blocking)
struct HostileLibraryTests {
    /// The cases that the daemon survives in any isolation.
    private static let survivable = [
        HostileCase(
            plugin: .library("NeverAnswers"), end: .error("call.timeout"), timeoutMilliseconds: 200, dropped: 1),
        HostileCase(plugin: .library("AnswersTwice"), end: .result("first"), dropped: 2),
        HostileCase(plugin: .library("AnswersUnknown"), end: .result("asked"), dropped: 4),
        HostileCase(plugin: .library("BadJSON"), end: .error("reply.invalid")),
        HostileCase(plugin: .library("WritesOutput"), end: .result("written")),
    ]

    private static let crashing = [
        HostileCase(plugin: .library("CrashInCall"), end: .crashed(["signal": 11])),
        HostileCase(plugin: .library("ExitInCall"), end: .crashed(["exit": 3])),
    ]

    @Test("affects at most its own calls, and serves again", arguments: survivable + crashing, Isolation.apart)
    func call(_ test: HostileCase, isolation: Isolation) throws { try test.meet(in: isolation) }

    /// A crash would end the daemon here: see `HostileDaemonTests`.
    @Test("in the daemon's own process affects at most its own calls, unless it crashes", arguments: survivable)
    func callInDaemon(_ test: HostileCase) throws { try test.meet(in: .daemon) }

    @Test("whose line has a gigabyte is killed, and the memory of the daemon stays bounded", arguments: Isolation.apart)
    func longLine(isolation: Isolation) throws {
        let test = HostileCase(plugin: .library("WritesSocket"), end: .killed("longer than"))
        try test.plugin.withDaemon(in: isolation, HostileCase.withoutHaste) { daemon, client in
            try test.meet(in: isolation, daemon, client)
            #expect(maximumResidentBytes(of: daemon.pid) < 100 << 20)
        }
    }

    @Test(
        "whose result has a gigabyte fails that call, and the daemon does not grow", arguments: Isolation.apart)
    func longResultApart(isolation: Isolation) throws {
        let test = HostileCase(plugin: .library("LongLine"), end: .error("result.too_large"))
        try test.plugin.withDaemon(in: isolation) { daemon, client in
            try test.meet(in: isolation, daemon, client)
            #expect(maximumResidentBytes(of: daemon.pid) < 100 << 20)
        }
    }

    @Test("whose result has a gigabyte in the daemon's own process fails that call")
    func longResult() throws {
        let test = HostileCase(plugin: .library("LongLine"), end: .error("result.too_large"))
        try test.plugin.withDaemon(in: .daemon) { daemon, client in
            try test.meet(in: .daemon, daemon, client)
            // The memory of the result in the library itself, without a copy.
            #expect(maximumResidentBytes(of: daemon.pid) < 1_500 << 20)
        }
    }

    @Test("that leaks descriptors exhausts only its own, and continues to work", arguments: Isolation.apart)
    func leak(isolation: Isolation) throws {
        let plugin = HostilePlugin.library("LeaksDescriptors")
        try plugin.withDaemon(in: isolation) { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            // Every process of a pool.
            for host in try children(of: daemon.pid) { try Self.limitDescriptors(of: host, to: 64) }
            let opened = try client.result("hostile.LeaksDescriptors")["opened"]?.int64Value
            #expect((1..<64).contains(opened ?? 0))
            #expect(try client.result("hostile.LeaksDescriptors.good", "after") == "after")
            #expect(try plugin.status(client)["restarts"] == 0)
            #expect(try daemon.connect().result("Echo", 1) == 1)
        }
    }

    @Test("that leaks the daemon's descriptors keeps out new clients until it closes them, but affects no others")
    func leakInDaemon() throws {
        let plugin = HostilePlugin.library("LeaksDescriptors")
        try plugin.withDaemon(in: .daemon) { daemon, client in
            try plugin.expectRunning(in: .daemon, client)
            try Self.limitDescriptors(of: daemon.pid, to: 256)
            #expect(try client.result("hostile.LeaksDescriptors")["opened"]?.int64Value ?? 0 > 100)
            #expect(try client.result("Echo", "served") == "served")
            // Descriptors that the daemon had not yet closed may admit some clients.
            var others: [Wire] = []
            while let other = try? daemon.connect(), (try? other.result("Echo", 1)) != nil {
                others.append(other)
                guard others.count < 32 else { throw TestFailure("there are descriptors left") }
            }
            try daemon.awaitLog("connections turned away", client)
            #expect(try client.result("Echo", "served") == "served")
            #expect(try client.result("hostile.LeaksDescriptors") == "closed")
            let deadline = Deadline()
            while (try? daemon.connect().result("Echo", 1)) != 1 {
                guard !deadline.isOver else { throw TestFailure("nobody gets in though there are descriptors") }
            }
        }
    }

    @Test("that forks and exits has ended, and so has its child", arguments: [false, true], Isolation.apart)
    func forks(leave: Bool, isolation: Isolation) throws {
        let plugin = HostilePlugin.library("ForksAndExits")
        try plugin.withDaemon(in: isolation) { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            let library = try #require(try plugin.status(client)["path"]?.stringValue)
            let ended = try client.call("hostile.ForksAndExits", leave ? "leave" : "stay")
            // The library replies, but its process exits before the reply is sent.
            #expect(ended["error"]?["code"] == "plugin.crashed" && ended["error"]?["data"]?["exit"] == 0, "\(ended)")
            #expect(try client.result("hostile.ForksAndExits.good", "after") == "after")
            let orphans = { try processes(mapping: library).subtracting(try children(of: daemon.pid)) }
            let deadline = Deadline()
            while try !orphans().isEmpty {
                guard !deadline.isOver else { throw TestFailure("its child lives on") }
            }
        }
    }

    @Test(
        "that blocks its process is detected by a ping",
        arguments: ["BlocksLoop", "BusyLoop"], Isolation.apart)
    func hanging(name: String, isolation: Isolation) throws {
        let plugin = HostilePlugin.library(name)
        try plugin.withDaemon(in: isolation, "plugin_timeout = \"10s\"") { _, client in
            try plugin.expectRunning(in: isolation, client)
            let ended = try client.call("hostile.\(name)")
            #expect(ended["error"]?["code"] == "plugin.crashed", "\(ended)")
            #expect(
                ended["error"]?["data"]?["reason"]?.stringValue?.contains("did not answer a ping") == true, "\(ended)")
            #expect(try client.result("hostile.\(name).good", "after") == "after")
        }
    }

    @Test(
        "that fails to load or start is refused with the reason",
        arguments: [
            ("CrashInConstructor", "signal 11"), ("CrashInEntry", "signal 11"), ("CrashAtStart", "signal 11"),
            ("WrongABI", "version"), ("BadManifest", "at byte"), ("TakesEcho", "Echo"),
            ("ReservedName", "plugin.start"),
        ], Isolation.apart)
    func badBeginning(test: (name: String, why: String), isolation: Isolation) throws {
        let plugin = HostilePlugin.library(test.name)
        try plugin.withDaemon(in: isolation) { _, client in try plugin.expectRefused(test.why, client) }
    }

    @Test(
        "in the daemon's own process that is invalid is refused with the reason",
        arguments: [
            ("WrongABI", "version"), ("BadManifest", "at byte"), ("TakesEcho", "Echo"),
            ("ReservedName", "plugin.start"),
        ])
    func badBeginningInDaemon(test: (name: String, why: String)) throws {
        let plugin = HostilePlugin.library(test.name)
        try plugin.withDaemon(in: .daemon) { _, client in try plugin.expectRefused(test.why, client) }
    }

    @Test(
        "that crashes at stop has ended, which is logged", arguments: [("CrashAtStop", "signal 11")], Isolation.apart)
    func crashAtStop(test: (name: String, why: String), isolation: Isolation) throws {
        let plugin = HostilePlugin.library(test.name)
        let daemon = try plugin.withDaemon(in: isolation) { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            return daemon
        }
        #expect(daemon.log.contains("the plugin \(test.name) did not stop") && daemon.log.contains(test.why))
    }

    @Test("that ignores cancels and stops delays neither the caller nor the daemon", arguments: Isolation.allCases)
    func ignoresCancel(isolation: Isolation) throws {
        let plugin = HostilePlugin.library("IgnoresCancel")
        let configuration = "stop_timeout = \"1s\"\ndrain_timeout = \"1s\""
        let daemon = try plugin.withDaemon(in: isolation, configuration) { daemon, client in
            try plugin.expectRunning(in: isolation, client)
            try client.send(#"{"task":"hostile.IgnoresCancel","callbackId":"h"}"#)
            try client.send(#"{"cancel":"h"}"#)
            #expect(try client.receive()["error"]?["code"] == "call.cancelled")
            // The call still counts as running, although its caller no longer waits.
            #expect(try client.result("hostile.IgnoresCancel.good", "after") == "after")
            return daemon
        }
        #expect(daemon.log.contains("the plugin IgnoresCancel did not stop"), "\(daemon.log)")
    }

    @Test("that never returns ends with the daemon, even if this is killed")
    func blockedLoop() throws {
        let folder = try TemporaryFolder()
        try HostilePlugin.library("BlocksLoop").put(into: folder)
        try IntegrationTests.withDaemon(pluginDirectory: folder.path) { daemon in
            let client = try daemon.connect()
            let pid = try client.result("bridge.plugins")["plugins"]?[0]?["pid"]?.int64Value
            let process = try #require(pid.map { Int32($0) })
            try client.send(#"{"task":"hostile.BlocksLoop"}"#)
            _ = try client.result("bridge.ping")
            daemon.signal(SIGKILL)
            #expect(try daemon.wait() == .killed(by: SIGKILL))
            try awaitEnd(of: process)
        }
    }

    private static func limitDescriptors(of pid: pid_t, to count: rlim_t) throws {
        let set = try run("/usr/bin/prlimit", ["--pid", "\(pid)", "--nofile=\(count):\(count)"])
        guard set.end == .exited(0) else { throw TestFailure("the limit of \(pid) cannot be set: \(set.errors)") }
    }
}
