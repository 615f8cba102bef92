import HTTPRules
import Synchronization
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Hosts with Strict-Transport-Security", .timeLimit(.minutes(20)))
struct HSTSHostsTests {
    private final class Clock: Sendable {
        private let seconds = Mutex<Int64>(1_000_000)
        var now: @Sendable () -> UnixTime { { UnixTime(seconds: self.seconds.withLock { $0 }) } }
        func pass(_ count: Int64) { seconds.withLock { $0 += count } }
    }

    private let clock = Clock()
    private let own = HSTSHosts.Partition(uid: 1000, profile: "default", site: "local")

    private func note(_ hosts: HSTSHosts, _ host: String, _ value: String) throws -> Bool {
        hosts.note(try #require(StrictTransport(value)), of: try Host(host), in: own)
    }

    @Test("A host is stored for its max-age, with its subdomains if requested, and removed by max-age 0")
    func time() throws {
        let hosts = HSTSHosts(now: clock.now)
        #expect(try note(hosts, "a.example", "max-age=100"))
        #expect(try note(hosts, "b.example", "max-age=200; includeSubDomains"))
        func covers(_ host: String) throws -> Bool { hosts.covers(try Host(host), in: own) }
        #expect(try covers("a.example") && !covers("x.a.example") && covers("x.y.b.example") && !covers("example"))
        #expect(try !covers("xb.example"))
        clock.pass(100)
        #expect(try !covers("a.example") && covers("b.example"))
        #expect(try note(hosts, "b.example", "max-age=0"))
        #expect(try !covers("b.example") && !note(hosts, "b.example", "max-age=0"))
        #expect(try !note(hosts, "192.0.2.1", "max-age=100"), "an address says nothing")
    }

    @Test("Entries are separate for each user, profile and site")
    func partitions() throws {
        let hosts = HSTSHosts(now: clock.now)
        #expect(try note(hosts, "a.example", "max-age=100"))
        for other in [
            HSTSHosts.Partition(uid: 1001, profile: "default", site: "local"),
            .init(uid: 1000, profile: "work", site: "local"),
            .init(uid: 1000, profile: "default", site: "https://b.example"),
        ] {
            #expect(try !hosts.covers(Host("a.example"), in: other))
        }
        #expect(hosts.remove(of: 1001) { _, _ in true } == 0)
        #expect(hosts.all(of: 1000).map(\.host) == ["a.example"])
        #expect(hosts.remove(of: 1000) { _, host in host == "a.example" } == 1)
    }

    @Test("Stored entries are read again, except expired ones and those of private profiles")
    func text() throws {
        let hosts = HSTSHosts(now: clock.now)
        let hidden = HSTSHosts.Partition(uid: 1000, profile: "private:x", site: "local")
        #expect(try note(hosts, "a.example", "max-age=100") && note(hosts, "b.example", "max-age=1"))
        #expect(try hosts.note(#require(StrictTransport("max-age=9")), of: Host("c.example"), in: hidden))
        clock.pass(1)
        let other = HSTSHosts(now: clock.now)
        try other.take(text: hosts.text(maximumBytes: 1000))
        #expect(other.all(of: 1000).map(\.host) == ["a.example"])
        #expect(throws: (any Error).self) { try other.take(text: Array("[{}]".utf8)) }
    }

    @Test("The number of hosts per user is limited, and the entry that expires first is removed")
    func bound() throws {
        let hosts = HSTSHosts(now: clock.now)
        for index in 0...HSTSHosts.maximumHosts {
            #expect(try note(hosts, "h\(index).example", "max-age=\(index + 1)"))
        }
        #expect(hosts.all(of: 1000).count == HSTSHosts.maximumHosts)
        #expect(try !hosts.covers(Host("h0.example"), in: own) && hosts.covers(Host("h1.example"), in: own))
    }

    @Test("The saved entries fit into the file; users with many long names lose those that expire first")
    func savedBytes() throws {
        let hosts = HSTSHosts(now: clock.now)
        #expect(try note(hosts, "a.example", "max-age=100"))
        let long = String(repeating: "\(String(repeating: "a", count: 59)).", count: 4)
        for uid: UInt32 in [1001, 1002] {
            let site = "https://\(long)\(uid)"
            for index in 0..<HSTSHosts.maximumHosts {
                let policy = try #require(StrictTransport("max-age=\(index + 1)"))
                let place = HSTSHosts.Partition(uid: uid, profile: String(repeating: "p", count: 64), site: site)
                #expect(try hosts.note(policy, of: Host("\(long)h\(index)"), in: place))
            }
        }
        let text = try hosts.text(maximumBytes: StateFile.maximumBytes)
        #expect(text.count <= StateFile.maximumBytes && text.count > StateFile.maximumBytes / 2)
        let other = HSTSHosts(now: clock.now)
        try other.take(text: text)
        #expect(other.all(of: 1000).map(\.host) == ["a.example"])
        for uid: UInt32 in [1001, 1002] {
            let kept = Set(other.all(of: uid).map { String($0.host.dropFirst(long.utf8.count)) })
            let (hasLast, hasFirst) = (kept.contains("h\(HSTSHosts.maximumHosts - 1)"), kept.contains("h0"))
            #expect(kept.count > 1000 && hasLast && !hasFirst)
        }
    }

    @Test(
        "After a response with the header, requests use TLS, also after a restart of the plugin",
        .enabled(if: TestAuthority.isThere && ScriptedServer.isThere, "needs openssl and python3"))
    func upgrade() async throws {
        let authority = try TestAuthority()
        let headers = "Strict-Transport-Security: max-age=1000\r\nContent-Type: text/plain\r\n"
        let server = try ScriptedServer(
            ["*": Script.response("safe", headers: headers)],
            certificate: authority.certificate("DNS:localhost"))
        let configuration: [String: JSON] = [
            "fetch": ["private_networks": ["127.0.0.0/8", "::1/128"], "ca_file": .string(authority.file)]
        ]
        let plain: JSON = .string("http://localhost:\(server.port)/")
        let folder = try TemporaryFolder()
        for round in 0..<2 {
            let bridge = try await TestBridge.start(
                .fetch(), configuration: configuration, stateDirectory: folder.path)
            let session = await bridge.session()
            if round == 0 { try await session.call("http.fetch", ["url": server.url("/", host: "localhost")]) }
            let result = try await session.call("http.fetch", ["url": plain])
            #expect(result["body"]?["text"] == "safe" && result["url"] == server.url("/", host: "localhost"))
            await bridge.stop()
        }
    }
}
