import Glibc
import TestSupport
import Testing

private let analyze = "/usr/bin/systemd-analyze"

@Suite(
    "The units for systemd", .blocking,
    .enabled(if: exists(analyze), "needs systemd-analyze, of the package systemd"))
struct UnitFileTests {
    /// Returns the units of a kind in their own folder, with the paths of programs on this machine.
    private func units(_ kind: String) throws -> (folder: TemporaryFolder, names: [String]) {
        let folder = try TemporaryFolder()
        let names = ["trestle.service", "trestle.socket"] + (kind == "user" ? ["trestle-present.service"] : [])
        for name in names {
            let text = contents(of: "\(Paths.package)/etc/systemd/\(kind)/\(name)")
            #expect(!text.isEmpty)
            let parts = text.split(separator: "/usr/bin/trestle", omittingEmptySubsequences: false)
            try folder.write(parts.joined(separator: Paths.program("trestle")), to: name)
        }
        return (folder, names)
    }

    @Test("contain nothing that systemd does not understand", arguments: ["system", "user"])
    func verify(kind: String) throws {
        let (folder, names) = try units(kind)
        let check = try run(
            analyze, ["--\(kind)", "verify", "--man=no"] + names.map { folder.file($0) },
            environment: ["XDG_RUNTIME_DIR=\(folder.path)"])
        #expect(check.end == .exited(0), "\(check.errors)")
        #expect(check.errors == "" && check.output == "")
    }

    @Test("limit the exposure of the daemon, also with a delegated control group")
    func security() throws {
        let (folder, _) = try units("system")
        try #require(mkdir(folder.file("trestle.service.d"), 0o755) == 0)
        // The threshold is ten times the exposure: 0.6, or 0.7 with the drop-in.
        for (dropIn, threshold) in [("", 6), (contents(of: "\(Paths.package)/etc/systemd/delegate.conf"), 7)] {
            try folder.write(dropIn, to: "trestle.service.d/delegate.conf")
            let check = try run(
                analyze,
                [
                    "security", "--offline=true", "--threshold=\(threshold)", "--no-pager",
                    folder.file("trestle.service"),
                ])
            #expect(check.end == .exited(0), "\(check.output)")
            #expect(check.output.contains("Overall exposure level"))
            let isDelegated = check.output.contains("✗ Delegate=")
            #expect(isDelegated == !dropIn.isEmpty)
            let verified = try run(analyze, ["verify", "--man=no", folder.file("trestle.service")])
            #expect(verified.end == .exited(0) && verified.output + verified.errors == "")
        }
    }

    @Test("have a valid drop-in for the network: the internet is permitted, private networks are not")
    func network() throws {
        let (folder, _) = try units("system")
        try #require(mkdir(folder.file("trestle.service.d"), 0o755) == 0)
        let dropIn = contents(of: "\(Paths.package)/etc/systemd/trestle-network.conf")
        try folder.write(dropIn, to: "trestle.service.d/network.conf")
        let verified = try run(analyze, ["verify", "--man=no", folder.file("trestle.service")])
        #expect(verified.end == .exited(0) && verified.output + verified.errors == "")
        // The exposure that operations.md states.
        let check = try run(
            analyze,
            ["security", "--offline=true", "--threshold=16", "--no-pager", folder.file("trestle.service")])
        #expect(check.end == .exited(0), "\(check.output)")
        for setting in ["PrivateNetwork=", "RestrictAddressFamilies=~AF_(INET|INET6)"] {
            #expect(check.output.contains("✗ \(setting)"), "\(setting)")
        }
        let denied = dropIn.matches(of: /\nIPAddressDeny=(.*)/).map { String($0.1) }
        #expect(denied.first == "", "what the unit denies is taken back first")
        for network in ["localhost", "link-local", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"] {
            #expect(denied.joined(separator: " ").contains(network), "\(network)")
        }
    }

    @Test("keep the user ids of peers, and give the daemon more time to stop than it takes")
    func promises() throws {
        let service = contents(of: "\(Paths.package)/etc/systemd/system/trestle.service")
        #expect(!service.contains("\nPrivateUsers=yes"))
        #expect(service.contains("\nType=notify\n") && service.contains("\nTimeoutStopSec=45s\n"))
    }

    @Test("restart the desktop presenter after a failure, and not after SIGTERM")
    func presenter() throws {
        let service = contents(of: "\(Paths.package)/etc/systemd/user/trestle-present.service")
        for line in ["Restart=on-failure", "SuccessExitStatus=143", "PartOf=graphical-session.target"] {
            #expect(service.contains("\n\(line)\n"))
        }
    }
}
