import BridgeJSON
import Glibc
import TestSupport
import Testing

/// A daemon that runs without a network, as in the unit of the package.
@Suite(
    "Fetch in a daemon without a network", .blocking,
    .enabled(if: geteuid() == 0 && exists("/usr/bin/unshare"), "needs root and unshare"))
struct ClosedNetworkTests {
    private func home(_ configuration: String) throws -> DaemonHome {
        let home = try DaemonHome(configuration)
        let program = home.program
        home.program = try home.folder.write("#!/bin/sh\nexec unshare --net '\(program)' \"$@\"\n", to: "trestled")
        chmod(home.program, 0o755)
        return home
    }

    @Test("refuses a request with the reason no_network, for a host name and for an address")
    func requests() throws {
        try withDaemon(in: home("[plugins.fetch]\n")) { daemon in
            let wire = try daemon.connect()
            for host in ["example.org", "1.1.1.1", "[2606:4700::1111]"] {
                let error = try wire.call("http.fetch", ["url": .string("http://\(host)/")])["error"] ?? nil
                #expect(error["code"] == "http.refused", "\(error.text)")
                #expect(error["data"]?["reason"] == "no_network", "\(error.text)")
                #expect(error["message"]?.stringValue?.contains("trestle-network.conf") == true, "\(error.text)")
            }
            #expect(daemon.log.contains("plugins.fetch: the plugin has no network access: "), "\(daemon.log)")
        }
    }

    @Test("does not report a missing network if an allowed loopback address accepts no connection")
    func loopback() throws {
        try withDaemon(in: home("[plugins.fetch]\nprivate_networks = [\"127.0.0.0/8\"]\n")) { daemon in
            let error = try daemon.connect().call("http.fetch", ["url": "http://127.0.0.1:8080/"])["error"] ?? nil
            #expect(error["code"] == "http.connect", "\(error.text)")
        }
    }

    @Test(
        "--check-config warns if Fetch is configured, and accepts the configuration",
        arguments: [
            ("[plugins.fetch]\n", true), ("", false),
            ("[plugins]\ndisabled = [\"fetch\"]\n[plugins.fetch]\n", false),
        ])
    func check(configuration: String, warns: Bool) throws {
        let home = try home(configuration)
        let daemon = try run(home.program, home.commandLine + ["--check-config"], environment: home.environment)
        #expect(daemon.end == .exited(0), "\(daemon.errors)")
        #expect(daemon.errors.contains("loopback (PrivateNetwork= of its unit)") == warns, "\(daemon.errors)")
    }
}
