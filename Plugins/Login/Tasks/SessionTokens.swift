import Synchronization
import TaskKit

/// Which token a session is logged in with: what `logout` revokes. Who is logged in is for the daemon to say; this is
/// in memory only and forgotten when the session closes.
final class SessionTokens: Sendable {
    /// One login of one session.
    struct Login: Sendable, Hashable {
        let user: UserName
        let token: TokenHash
        let expiresAt: WallTime
        /// Tells it from every other login, also from one with the same token.
        fileprivate let number: UInt64
    }

    private struct State {
        var logins: [SessionID: Login] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The login of a session; nil: none that is known.
    subscript(session: SessionID) -> Login? {
        state.withLock { $0.logins[session] }
    }

    /// How many sessions are logged in.
    var count: Int { state.withLock { $0.logins.count } }

    /// Notes a login, in the place of the session's earlier one.
    func note(_ grant: Grant, of session: SessionID) -> Login {
        state.withLock { state in
            state.lastNumber += 1
            let login = Login(
                user: grant.user, token: grant.tokenHash, expiresAt: grant.expiresAt, number: state.lastNumber)
            state.logins[session] = login
            return login
        }
    }

    /// Forgets a login, unless the session has another one since. False: it has.
    @discardableResult
    func forget(_ login: Login?, of session: SessionID) -> Bool {
        state.withLock { state in
            guard state.logins[session] == login else { return false }
            state.logins[session] = nil
            return true
        }
    }

    /// Forgets a session.
    func forget(_ session: SessionID) {
        state.withLock { $0.logins[session] = nil }
    }
}
