import TaskKit
import Testing

@Suite("A caller")
struct CallerTests {
    @Test(
        "is different if a name only looks the same",
        arguments: [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}")])
    func bytes(name: String, lookalike: String) {
        func caller(origin: String = "local", user: String? = nil, client: String? = nil) -> Caller {
            Caller(session: 1, uid: 2, gid: 3, pid: 4, origin: origin, user: user, client: client)
        }
        #expect(caller(origin: name) == caller(origin: name) && caller(origin: name) != caller(origin: lookalike))
        #expect(caller(user: name) == caller(user: name) && caller(user: name) != caller(user: lookalike))
        #expect(caller(client: name) == caller(client: name) && caller(client: name) != caller(client: lookalike))
        #expect(Set([caller(user: name), caller(user: lookalike), caller(user: nil), caller(user: name)]).count == 3)
    }
}
