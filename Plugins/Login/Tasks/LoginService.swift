import Synchronization
import TaskKit

/// The login by passwords, tokens and accounts. It does not depend on sessions beyond counting their attempts.
///
/// Any thread. Long work runs on its own two threads. The methods throw `BridgeError`, and `CancellationError` if the
/// call for which they work has ended.
final class LoginService: Sendable {
    private struct State {
        var settings: LoginSettings
        var hasher: PasswordHasher
        var lockOut: LockOut
        var attempts: LoginAttempts

        init(_ settings: LoginSettings) {
            self.settings = settings
            hasher = PasswordHasher(cost: settings.cost)
            lockOut = LockOut(rules: settings.lockOut)
            attempts = LoginAttempts(rules: settings.attempts)
        }
    }

    let database = AccountDatabase()
    private let hashing = HashingQueue()
    private let clocks: LoginClocks
    private let state: Mutex<State>
    /// The settings for everything that the configuration omits.
    private let standard: LoginSettings
    private let figures = Mutex(LoginMetrics())
    private var metrics: LoginMetrics { figures.withLock { $0 } }

    init(settings: LoginSettings = LoginSettings(), clocks: LoginClocks = LoginClocks()) {
        self.clocks = clocks
        standard = settings
        state = Mutex(State(settings))
    }

    /// Checks whether a configuration can be applied.
    ///
    /// - Throws: `JSONMismatch`.
    static func check(_ configuration: LoginConfiguration) throws {
        var settings = LoginSettings()
        try settings.apply(configuration)
    }

    /// Applies the configuration. Running logins continue with the old settings; lock-outs stay.
    func configure(_ configuration: LoginConfiguration) {
        var settings = standard
        // `check` has accepted it.
        guard (try? settings.apply(configuration)) != nil else { return }
        let hasher = PasswordHasher(cost: settings.cost)
        state.withLock { state in
            state.settings = settings
            state.hasher = hasher
            state.attempts.rules = settings.attempts
        }
    }

    /// Opens the accounts in the directory for the files of plugins.
    ///
    /// - Parameters:
    ///   - metrics: The metrics to update from now on; by default they are not published.
    ///   - log: Receives messages for the operator.
    func open(
        directory: String, metrics: LoginMetrics = LoginMetrics(), log: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws {
        try await database.open(directory + "/accounts.sqlite", now: clocks.wall(), log: log)
        figures.withLock { $0 = metrics }
        metrics.accounts.set(try await database.perform { try $0.count() })
    }
}

/// The result of a successful login.
struct Grant: Sendable {
    let user: UserName
    /// The token in the form that the client keeps.
    let token: String
    let tokenHash: TokenHash
    let expiresAt: WallTime
}

// MARK: Logging in

extension LoginService {
    /// Counts an attempt to log in, before any other work.
    ///
    /// - Throws: `busy` if the session or the uid made too many attempts.
    func admit(session: SessionID, uid: UInt32) throws(BridgeError) {
        let now = clocks.monotonic()
        let refusal = state.withLock { state -> LoginAttempts.Refusal? in
            do throws(LoginAttempts.Refusal) {
                try state.attempts.attempt(session: session, uid: uid, now: now)
                return nil
            } catch {
                return error
            }
        }
        guard let refusal else { return }
        throw BridgeError(
            .busy, "\(refusal.subject) has made \(refusal.limit) attempts to log in within a minute, the maximum",
            data: [
                "quota": "login_attempts", "limit": .number(JSONNumber(refusal.limit)),
                "of": .string("\(refusal.subject)"), "started": false,
            ],
            isTransient: true, retryAfter: refusal.retryAfter)
    }

    /// Logs in by password and returns a new token.
    ///
    /// - Parameter uid: The uid of the client, to which the lock-out and the slots of the queue are charged.
    /// - Throws: `login.failed`, `login.locked`, `busy`, `storage.full`, `storage.failed`.
    func logIn(_ user: UserName, _ password: Secret, uid: UInt32) async throws -> Grant {
        // First a slot: a call that finds none must not affect the lock-out.
        let verified = try await hashing.withSlot(for: uid) { try await verify(user, password, uid: uid) }
        let token = Token()
        let now = clocks.wall()
        let expiresAt = now + state.withLock { $0.settings.tokenLifetime }
        let isIssued = try await database.perform { store in
            try store.issue(
                token.hash, to: verified.account, rehashed: verified.rehashed, now: now, expiresAt: expiresAt)
        }
        // No token was issued if the password was changed, or the account removed, after the check.
        guard isIssued else { throw Self.wrongPassword }
        metrics.logins.add()
        return Grant(user: user, token: token.text, tokenHash: token.hash, expiresAt: expiresAt)
    }

    /// Logs in by a token of an earlier login. The token keeps its expiry.
    ///
    /// - Throws: `login.failed`, `storage.failed`.
    func logIn(_ token: Secret) async throws -> Grant {
        let refusal = BridgeError(
            "login.failed", "the token is unknown, revoked or expired; log in with user and password")
        let now = clocks.wall()
        guard let hash = Token.hash(of: token),
            let owner = try await database.perform({ try $0.owner(of: hash, now: now) })
        else {
            metrics.failedLogins.add()
            throw refusal
        }
        metrics.logins.add()
        return Grant(user: owner.user, token: token.text, tokenHash: hash, expiresAt: owner.expiresAt)
    }

    private struct Verified: Sendable {
        var account: Account
        /// The password's hash at the current cost; `nil` if the stored hash has that cost already.
        var rehashed: PasswordHash?
    }

    private static let wrongPassword = BridgeError("login.failed", "the user or the password is wrong")

    /// Checks a password under the lock-out.
    private func verify(_ user: UserName, _ password: Secret, uid: UInt32) async throws -> Verified {
        let attempt = try begin(user, uid: uid)
        let verified: Verified?
        do {
            let account = try await database.perform { try $0.account(user) }
            verified = try await check(password, of: account, uid: uid)
        } catch {
            state.withLock { $0.lockOut.abandoned(attempt) }
            throw error
        }
        let now = clocks.monotonic()
        state.withLock { state in
            if verified == nil { state.lockOut.failed(attempt, now: now) } else { state.lockOut.succeeded(attempt) }
        }
        guard let verified else {
            metrics.failedLogins.add()
            throw Self.wrongPassword
        }
        return verified
    }

    private func begin(_ user: UserName, uid: UInt32) throws(BridgeError) -> LockOut.Attempt {
        let now = clocks.monotonic()
        switch state.withLock({ $0.lockOut.begin(user: user, uid: uid, now: now) }) {
        case .allowed(let attempt): return attempt
        case .locked(let retryAfter):
            metrics.lockedLogins.add()
            throw BridgeError(
                "login.locked", "too many wrong passwords for this user from uid \(uid); try again later",
                isTransient: true, retryAfter: retryAfter)
        }
    }

    /// Checks a password. Returns `nil` if it is wrong or if there is no account; the time does not show which.
    private func check(_ password: Secret, of account: Account?, uid: UInt32) async throws -> Verified? {
        let hasher = state.withLock { $0.hasher }
        return try await hash(for: uid) {
            guard let account else {
                _ = try hasher.verify(password, hasher.dummy)
                return nil
            }
            guard try hasher.verify(password, account.passwordHash) else { return nil }
            let isOld = hasher.needsRehash(account.passwordHash)
            return Verified(account: account, rehashed: isOld ? try hasher.hash(password) : nil)
        }
    }

    private func hash<T: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () throws -> T
    ) async throws -> T {
        do {
            return try await hashing.run(for: uid, work)
        } catch let failure as HashingFailure {
            throw BridgeError(.internal, "\(failure)", isTransient: failure == .noMemory)
        }
    }
}

// MARK: Accounts

extension LoginService {
    /// Adds an account.
    ///
    /// - Throws: `user.exists`, `busy`, `storage.full`, `storage.failed`.
    func add(_ user: UserName, _ password: Secret, uid: UInt32) async throws {
        let exists = BridgeError(
            "user.exists", "there is a user \(user) already; login.users.passwd changes a password")
        // Checked twice: here to avoid a useless hash, and in `add` because another call may come in between.
        if try await database.perform({ try $0.account(user) }) != nil { throw exists }
        let hash = try await newHash(password, uid: uid)
        let now = clocks.wall()
        guard try await database.perform({ try $0.add(user, hash, now: now) }) else { throw exists }
        metrics.accounts.add(1)
    }

    /// Changes an account's password and revokes its tokens.
    ///
    /// - Throws: `user.not_found`, `busy`, `storage.full`, `storage.failed`.
    func setPassword(_ user: UserName, _ password: Secret, uid: UInt32) async throws {
        if try await database.perform({ try $0.account(user) }) == nil { throw Self.notFound(user) }
        let hash = try await newHash(password, uid: uid)
        let now = clocks.wall()
        guard try await database.perform({ try $0.setPassword(user, hash, now: now) }) else {
            throw Self.notFound(user)
        }
        state.withLock { $0.lockOut.forget(user: user) }
    }

    /// Removes an account and its tokens.
    ///
    /// - Throws: `user.not_found`, `storage.full`, `storage.failed`.
    func remove(_ user: UserName) async throws {
        guard try await database.perform({ try $0.remove(user) }) else { throw Self.notFound(user) }
        metrics.accounts.add(-1)
        state.withLock { $0.lockOut.forget(user: user) }
    }

    /// Returns the next accounts, by name.
    ///
    /// - Parameters:
    ///   - last: The name after which the accounts follow; `nil` from the first one on.
    ///   - limit: The maximum number of accounts.
    /// - Throws: `storage.failed`.
    func list(after last: UserName?, limit: Int) async throws -> [AccountSummary] {
        try await database.perform { try $0.list(after: last, limit: limit) }
    }

    private static func notFound(_ user: UserName) -> BridgeError {
        BridgeError("user.not_found", "there is no user \(user); login.users.list lists the users")
    }

    private func newHash(_ password: Secret, uid: UInt32) async throws -> PasswordHash {
        let hasher = state.withLock { $0.hasher }
        return try await hashing.withSlot(for: uid) { try await hash(for: uid) { try hasher.hash(password) } }
    }
}
