import Testing

@testable import NetworkAccess

@Suite("Whether a process may use a network")
struct NetworkAccessTests {
    @Test(
        "Each obstacle names the setting that makes it; the first one counts",
        arguments: [
            (false, nil, "RestrictAddressFamilies= of its unit"), (false, true, "RestrictAddressFamilies= of its unit"),
            (true, nil, "AF_NETLINK"), (true, true, "PrivateNetwork="), (true, false, nil),
        ] as [(Bool, Bool?, String?)])
    func obstacles(opensSockets: Bool, hasOnlyLoopback: Bool?, setting: String?) {
        let obstacle = NetworkAccess.obstacle(.init(opensSockets: opensSockets, hasOnlyLoopback: hasOnlyLoopback))
        #expect((obstacle == nil) == (setting == nil))
        if let setting { #expect(obstacle?.contains(setting) == true, "\(obstacle ?? "")") }
    }
}
