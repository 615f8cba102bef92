import Testing

@testable import EventLoop

@Suite("The unit of a peer")
struct PeerUnitTests {
    @Test(
        "is the first service or scope of its control group, so that a peer cannot claim a nested unit's name",
        arguments: [
            ("0::/system.slice/notes.service\n", "notes.service"),
            ("0::/system.slice/notes.service/payload.service\n", "notes.service"),
            ("0::/system.slice/trestle.service/plugin-3\n", "trestle.service"),
            ("1:name=systemd:/a.slice/trestle.service\n0::/a.slice/trestle.service/plugin-3\n", "trestle.service"),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/nginx.service\n", "user@1000.service"),
            ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"),
            ("4:memory:/x.service\n1:name=systemd:/system.slice/a.service\n0::/b.service\n", "a.service"),
            ("0::/\n", nil), ("0::/init.scope\n", "init.scope"), ("", nil), ("no lines\n::\n", nil),
        ] as [(String, String?)])
    func reading(text: String, unit: String?) { #expect(PeerUnit.unit(inControlGroups: text) == unit) }
}
