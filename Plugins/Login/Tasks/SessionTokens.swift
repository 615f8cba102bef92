import Synchronization
import TaskKit

/// A session's login for the handover to the next daemon: the user, the hash of the token, and its expiry.
struct KeptLogin: Codable, Sendable, Equatable {
    var user: String
    var token: [UInt8]
    /// In milliseconds since 1970.
    var expiresAt: Int64

    fileprivate init(_ login: SessionTokens.Login) {
        (user, token, expiresAt) = (login.user.text, login.token.bytes, login.expiresAt.milliseconds)
    }
}

/// The token that each session logged in with, which `logout` revokes. The daemon decides which user is logged in. The
/// tokens are in memory only and removed when the session closes.
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

    /// The login of a session; `nil` if it is unknown.
    subscript(session: SessionID) -> Login? {
        state.withLock { $0.logins[session] }
    }

    /// The number of stored logins.
    var count: Int { state.withLock { $0.logins.count } }

    /// Stores a login in place of the session's earlier one.
    func note(_ grant: Grant, of session: SessionID) -> Login {
        state.withLock { state in
            state.lastNumber += 1
            let login = Login(
                user: grant.user, token: grant.tokenHash, expiresAt: grant.expiresAt, number: state.lastNumber)
            state.logins[session] = login
            return login
        }
    }

    /// Removes a login. Returns false if the session has another login since; it is kept.
    @discardableResult
    func forget(_ login: Login?, of session: SessionID) -> Bool {
        state.withLock { state in
            guard state.logins[session] == login else { return false }
            state.logins[session] = nil
            return true
        }
    }

    /// Returns the logins of sessions, for the next daemon.
    func kept(of sessions: [SessionID]) -> [SessionID: KeptLogin] {
        state.withLock { state in
            sessions.reduce(into: [:]) { kept, session in
                kept[session] = state.logins[session].map(KeptLogin.init)
            }
        }
    }

    /// Restores the logins of the previous daemon.
    ///
    /// - Returns: The sessions whose login is invalid.
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

    /// Removes the login of a session.
    func forget(_ session: SessionID) {
        state.withLock { $0.logins[session] = nil }
    }
}
