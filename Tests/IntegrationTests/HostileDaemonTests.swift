import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Libraries of Tests/HostilePlugins that nobody survives: the daemon ends, and its manager starts it again.
@Suite("A hostile library that ends the daemon", .blocking)
struct HostileDaemonTests {
    private static let record: JSON = ["kept": true]

    /// A daemon's paths, with Persistence in its own process; `name` is to run there too.
    private func home(_ name: String, in folder: TemporaryFolder) throws -> DaemonHome {
        try HostilePlugin.putGood("Persistence", into: folder)
        let home = try DaemonHome(configuration(Isolation.daemon.section(name)), pluginDirectory: folder.path)
        home.program = try HostilePlugin.putDaemon(into: folder)
        return home
    }

    private func configuration(_ more: String) -> String { "[plugins.persistence]\nisolation = \"none\"\n\(more)" }

    /// Has something acknowledged; returns its version.
    private func acknowledge(_ client: Wire) throws -> JSON? {
        try client.result("persistence.create", ["table": "t", "key": "k", "record": Self.record])["version"]
    }

    private func expectKept(_ version: JSON?, _ client: Wire) throws {
        let found = try client.result("persistence.read", ["table": "t", "key": "k"])
        #expect(version != nil && found["version"] == version && found["record"] == Self.record, "\(found)")
    }

    @Test(
        "in a call takes its process along; one that is started on the same state has what was acknowledged",
        arguments: [
            ("CrashInCall", ProcessEnd.killed(by: SIGSEGV)), ("ExitInCall", .exited(3)), ("ForksAndExits", .exited(0)),
        ])
    func inCall(name: String, end: ProcessEnd) throws {
        let folder = try TemporaryFolder()
        let plugin = HostilePlugin.library(name)
        try plugin.put(into: folder)
        let home = try home(name, in: folder)
        var version: JSON?
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try plugin.expectRunning(in: .daemon, client)
            version = try acknowledge(client)
            try client.send(["task": .string("hostile.\(name)"), "callbackId": "h"])
            try awaitEnd(of: daemon.pid)
            // What it has forked holds all that it had, its socket, its lock and its lifeline: managers end that with
            // it.
            for orphan in try processes(mapping: folder.file(plugin.file)) {
                kill(orphan, SIGKILL)
                try awaitEnd(of: orphan)
            }
            #expect(try daemon.wait() == end)
        }
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try plugin.expectRunning(in: .daemon, client)
            try expectKept(version, client)
        }
    }

    @Test("at stop takes its process along, and nothing that was acknowledged")
    func atStop() throws {
        let folder = try TemporaryFolder()
        let plugin = HostilePlugin.library("CrashAtStop")
        try plugin.put(into: folder)
        let home = try home("CrashAtStop", in: folder)
        var version: JSON?
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try plugin.expectRunning(in: .daemon, client)
            version = try acknowledge(client)
            #expect(try daemon.stop() == .killed(by: SIGSEGV))
        }
        try withDaemon(in: home) { daemon in
            try expectKept(version, try daemon.connect())
            #expect(try daemon.stop() == .killed(by: SIGSEGV))
        }
    }

    @Test(
        "while it is loaded or started keeps it from serving, until it is out of its process",
        arguments: ["CrashInConstructor", "CrashInEntry", "CrashAtStart"])
    func atLoad(name: String) throws {
        let folder = try TemporaryFolder()
        let home = try home(name, in: folder)
        // What came with the daemon is loaded by it, and what is not there may have no section.
        try home.folder.write(configuration(""), to: "trestled.toml")
        var version: JSON?
        try withDaemon(in: home) { daemon in version = try acknowledge(try daemon.connect()) }
        let plugin = HostilePlugin.library(name)
        try plugin.put(into: folder)
        #expect(try DaemonProcess(in: home).wait() == .killed(by: SIGSEGV))
        // As one that did not come with the daemon.
        home.program = Paths.program("trestled")
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try plugin.expectRefused("signal 11", client)
            try expectKept(version, client)
        }
    }
}
