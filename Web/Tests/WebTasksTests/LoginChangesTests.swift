import Testing
import WebTasks

@Suite("Reloads of pages after logins") struct LoginChangesTests {
    /// Returns whether each user in turn causes a reload, with a pause after each.
    private func reloads(_ users: [String?]) -> [Bool] {
        var changes = LoginChanges()
        return users.map { user in
            let isReload = changes.heard(user)
            return changes.pauseEnded() || isReload
        }
    }

    @Test("another user or no user is a change; the same user again is none")
    func users() { #expect(reloads(["ada", "ada", "bob", nil, nil]) == [true, false, true, true, false]) }

    @Test("a logout without an earlier event is a change: a user was logged in before the container started")
    func unknown() { #expect(reloads([nil]) == [true]) }

    @Test("users are compared by bytes")
    func bytes() { #expect(reloads(["\u{e9}", "e\u{301}"]) == [true, true]) }

    @Test("changes during the pause cause one reload after it, or none if the user is the same again")
    func pause() {
        var changes = LoginChanges()
        let during = ["ada", "bob", "ada", "bob"].map { changes.heard($0) }
        #expect(during == [true, false, false, false])
        let behind = changes.pauseEnded()
        #expect(behind)
        let again = ["ada", "bob"].map { changes.heard($0) }
        #expect(again == [false, false])
        let last = changes.pauseEnded()
        #expect(!last)
    }
}
