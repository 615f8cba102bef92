import TaskKit
import Testing

@testable import LoginTasks

@Suite("The rate limit of login attempts")
struct LoginAttemptsTests {
    private func refusal(
        _ attempts: inout LoginAttempts, session: SessionID, uid: UInt32 = 1000, at now: Duration
    ) -> LoginAttempts.Refusal? {
        do throws(LoginAttempts.Refusal) {
            try attempts.attempt(session: session, uid: uid, now: now)
            return nil
        } catch {
            return error
        }
    }

    @Test("A session may use a minute's attempts at once, then one as each becomes due")
    func session() {
        var attempts = LoginAttempts(rules: .init(session: 6, uid: 0))
        for _ in 0..<6 { #expect(refusal(&attempts, session: 1, at: .seconds(100)) == nil) }
        let refused = refusal(&attempts, session: 1, at: .seconds(103))
        #expect(refused == .init(subject: .session(1), limit: 6, retryAfter: .seconds(7)))
        #expect(refusal(&attempts, session: 2, at: .seconds(103)) == nil)
        #expect(refusal(&attempts, session: 1, at: .seconds(110)) == nil)
        #expect(refusal(&attempts, session: 1, at: .seconds(110))?.retryAfter == .seconds(10))
    }

    @Test("The sessions of a uid share its limit, and a refused attempt does not count for the session")
    func uid() {
        var attempts = LoginAttempts(rules: .init(session: 2, uid: 3))
        for session in 1...3 { #expect(refusal(&attempts, session: SessionID(session), at: .zero) == nil) }
        #expect(refusal(&attempts, session: 1, at: .zero)?.subject == .uid(1000))
        #expect(refusal(&attempts, session: 9, uid: 1001, at: .zero) == nil)
        #expect(refusal(&attempts, session: 1, at: .seconds(20)) == nil)
    }

    @Test("Full buckets are removed")
    func crowd() {
        var attempts = LoginAttempts()
        for session in 0..<10_000 { _ = refusal(&attempts, session: SessionID(session), at: .seconds(session)) }
        #expect(attempts.count < 2_000)
    }

    @Test("New limits apply at once, with full buckets")
    func changed() {
        var attempts = LoginAttempts(rules: .init(session: 1, uid: 0))
        #expect(refusal(&attempts, session: 1, at: .zero) == nil)
        #expect(refusal(&attempts, session: 1, at: .zero) != nil)
        attempts.rules.session = 2
        #expect(refusal(&attempts, session: 1, at: .zero) == nil)
    }
}
