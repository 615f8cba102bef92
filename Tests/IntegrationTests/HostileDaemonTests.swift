import BridgeJSON
import Glibc
import TestSupport
import Testing

/// Libraries of Tests/HostilePlugins that end the daemon. Its service manager starts it again.
@Suite("A hostile library that ends the daemon", .blocking)
struct HostileDaemonTests {
    private static let record: JSON = ["kept": true]

    /// Returns the paths of a daemon that runs Persistence and `name` in its own process.
    private func home(_ name: String, in folder: TemporaryFolder) throws -> DaemonHome {
        try HostilePlugin.putGood("Persistence", into: folder)
        let home = try DaemonHome(configuration(Isolation.daemon.section(name)), pluginDirectory: folder.path)
        home.program = try HostilePlugin.putDaemon(into: folder)
        return home
    }

    private func configuration(_ more: String) -> String { "[plugins.persistence]\nisolation = \"none\"\n\(more)" }

    /// Creates a record, which the daemon acknowledges. Returns the version of the record.
    private func acknowledge(_ client: Wire) throws -> JSON? {
        try client.result("persistence.create", ["table": "t", "key": "k", "record": Self.record])["version"]
    }

    private func expectKept(_ version: JSON?, _ client: Wire) throws {
        let found = try client.result("persistence.read", ["table": "t", "key": "k"])
        #expect(version != nil && found["version"] == version && found["record"] == Self.record, "\(found)")
    }

    @Test(
        "in a call ends its process; a daemon with the same state directory has the acknowledged records",
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
            // A forked child holds the socket, the lock and the lifeline of the daemon. A service manager ends it with
            // the daemon.
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

    @Test("at stop ends its process, but no acknowledged record is lost")
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
        "at load or start prevents a start of the daemon until the library runs in its own process",
        arguments: ["CrashInConstructor", "CrashInEntry", "CrashAtStart"])
    func atLoad(name: String) throws {
        let folder = try TemporaryFolder()
        let home = try home(name, in: folder)
        // The daemon loads the libraries installed with it. A library that is not there must not have a section.
        try home.folder.write(configuration(""), to: "trestled.toml")
        var version: JSON?
        try withDaemon(in: home) { daemon in version = try acknowledge(try daemon.connect()) }
        let plugin = HostilePlugin.library(name)
        try plugin.put(into: folder)
        #expect(try DaemonProcess(in: home).wait() == .killed(by: SIGSEGV))
        // With this program the library counts as not installed with the daemon.
        home.program = Paths.program("trestled")
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try plugin.expectRefused("signal 11", client)
            try expectKept(version, client)
        }
    }
}
