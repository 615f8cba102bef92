import Testing

@testable import NetworkAccess

@Suite("A process's access to a network")
struct NetworkAccessTests {
    @Test(
        "Each obstacle names the setting that causes it; the first obstacle counts",
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
