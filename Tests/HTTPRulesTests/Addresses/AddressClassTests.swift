import HTTPRules
import TestSupport
import Testing

@Suite struct AddressClassTests {
    @Test(
        "Each address has its class; an IPv4 address embedded in IPv6 keeps its own",
        arguments: [
            ("8.8.8.8", "public"), ("127.0.0.1", "loopback"), ("127.255.255.255", "loopback"), ("10.0.0.1", "private"),
            ("172.15.255.255", "public"), ("172.16.0.0", "private"), ("172.31.255.255", "private"),
            ("172.32.0.0", "public"),
            ("192.168.1.1", "private"), ("169.254.169.254", "link_local"), ("100.64.0.1", "shared_network"),
            ("100.63.255.255", "public"), ("100.128.0.0", "public"), ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "reserved"),
            ("192.0.0.1", "reserved"), ("192.0.2.1", "documentation"), ("198.51.100.1", "documentation"),
            ("203.0.113.1", "documentation"), ("198.18.0.1", "benchmarking"), ("198.20.0.0", "public"),
            ("224.0.0.1", "multicast"),
            ("240.0.0.1", "reserved"), ("255.255.255.255", "reserved"), ("192.88.99.1", "reserved"),
            ("::", "unspecified"),
            ("::1", "loopback"), ("::2", "reserved"), ("::ffff:127.0.0.1", "loopback"), ("::ffff:8.8.8.8", "public"),
            ("::127.0.0.1", "reserved"), ("64:ff9b::10.0.0.1", "private"), ("64:ff9b::8.8.8.8", "public"),
            ("64:ff9b:1::1", "reserved"), ("2002:7f00:1::1", "loopback"), ("2002:0808:0808::1", "public"),
            ("2606:4700::1", "public"), ("2001:db8::1", "documentation"), ("3fff:fff::1", "documentation"),
            ("3fff:1000::", "public"),
            ("2001::1", "reserved"), ("2001:1ff:ffff::", "reserved"), ("2001:200::", "public"),
            ("2001:2::1", "benchmarking"),
            ("fc00::1", "unique_local"), ("fdff::1", "unique_local"), ("fe80::1", "link_local"),
            ("febf::1", "link_local"),
            ("fec0::1", "private"), ("ff02::1", "multicast"), ("100::1", "reserved"), ("5f00::1", "reserved"),
            ("4000::1", "reserved"),
        ]) func classes(text: String, expected: String) throws
    { #expect(try #require(IPAddress(text)).addressClass.rawValue == expected) }

    @Test("An address is read back from its bytes and from its text", arguments: 0..<10 as Range<UInt64>)
    func bytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for count in [4, 16] {
            for _ in 0..<200 {
                let bytes = (0..<count).map { _ in
                    Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
                }
                let address = try #require(IPAddress(bytes: bytes))
                #expect(address.bytes == bytes && IPAddress(address.text) == address)
            }
        }
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
    }

    @Test("A network contains the addresses that share its prefix") func networks() throws {
        let network = try #require(IPNetwork("10.1.0.0/16"))
        for (address, isInside) in [
            ("10.1.0.0", true), ("10.1.255.255", true), ("10.2.0.0", false), ("::ffff:10.1.2.3", true),
            ("fd00::1", false),
        ] { #expect(try network.contains(#require(IPAddress(address))) == isInside) }
        #expect(try #require(IPNetwork("fd00::/8")).contains(#require(IPAddress("fdff::1"))))
        #expect(try #require(IPNetwork("0.0.0.0/0")).contains(#require(IPAddress("255.1.1.1"))))
        #expect(try #require(IPNetwork("2001:db8::1")).description == "2001:db8::1/128")
        #expect(IPNetwork("::ffff:10.0.0.0/104")?.description == "10.0.0.0/8")
    }

    @Test(
        "Text that is not a network is refused",
        arguments: [
            "10.1.2.3/16", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "/8", "", "10/8", "fd00::/129",
            "fd00::1/8",
            "10.0.0.0/+8", "10.0.0.0/99999999999999999999", String(repeating: "1", count: 1000),
        ]) func noNetworks(text: String)
    { #expect(IPNetwork(text) == nil) }

    @Test("The closed ports are those that Fetch blocks") func ports() {
        #expect([22, 25, 6667, 6679, 10080, 4190].allSatisfy { ClosedPorts.isClosedPort($0) })
        #expect([80, 443, 8080, 8443, 3000].allSatisfy { !ClosedPorts.isClosedPort($0) })
    }
}
