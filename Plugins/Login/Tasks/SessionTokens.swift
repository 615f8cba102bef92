import Synchronization
import TaskKit

/// A session's login on its way to the next daemon: who, the hash of the token, and until when that is good.
struct KeptLogin: Codable, Sendable, Equatable {
    var user: String
    var token: [UInt8]
    /// In milliseconds since 1970.
    var expiresAt: Int64

    fileprivate init(_ login: SessionTokens.Login) {
        (user, token, expiresAt) = (login.user.text, login.token.bytes, login.expiresAt.milliseconds)
    }
}

/// Which token a session is logged in with: what `logout` revokes. Who is logged in is for the daemon to say; this is
/// in memory only and forgotten when the session closes.
final class SessionTokens: Sendable {
    /// One login of one session.
    struct Login: Sendable, Hashable {
        let user: UserName
        let token: TokenHash
        let expiresAt: WallTime
        /// Distinguishes it from every other login, also from one with the same token.
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

    /// What is known of sessions, for the next daemon.
    func kept(of sessions: [SessionID]) -> [SessionID: KeptLogin] {
        state.withLock { state in
            sessions.reduce(into: [:]) { kept, session in
                kept[session] = state.logins[session].map(KeptLogin.init)
            }
        }
    }

    /// Goes on with the logins of the daemon before.
    ///
    /// - Returns: The sessions whose login makes no sense.
    func restore(_ kept: [SessionID: KeptLogin]) -> [SessionID] {
        state.withLock { state in
            kept.compactMap { session, kept in
                guard let user = UserName(kept.user), let token = TokenHash(bytes: kept.token) else { return session }
                state.lastNumber += 1
                state.logins[session] = Login(
                    user: user, token: token, expiresAt: WallTime(milliseconds: kept.expiresAt),
                    number: state.lastNumber)
                return nil
            }
        }
    }

    /// Forgets a session.
    func forget(_ session: SessionID) {
        state.withLock { $0.logins[session] = nil }
    }
}
