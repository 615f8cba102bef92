import Glibc
import TaskKit

/// The plugin's section of the configuration.
struct LoginConfiguration: Codable, Sendable {
    /// `password_cost`: the cost of checking a password; `nil` for `interactive`. Passwords that were hashed at another
    /// cost stay valid and are hashed again at the next login.
    var passwordCost: CostName?

    /// `token_days`: the number of days for which a token is valid, 1 to 3,650; `nil` for 30.
    var tokenDays: Int?

    /// `session_attempts`, `uid_attempts`: the login attempts per minute of one session, and of one uid; 0 for no
    /// limit, `nil` for the default.
    var sessionAttempts: Int?
    var uidAttempts: Int?

    enum CostName: String, Codable, Sendable, CaseIterable {
        case interactive
        case moderate
    }

    enum CodingKeys: String, CodingKey {
        case passwordCost = "password_cost"
        case tokenDays = "token_days"
        case sessionAttempts = "session_attempts"
        case uidAttempts = "uid_attempts"
    }

    /// The description of the settings for operators.
    static let settings: [String: JSON] = [
        "password_cost": [
            "description": """
            The cost of the check of a password: interactive uses 64 MiB of memory, moderate 256 MiB. Passwords that \
            were hashed at another cost stay valid, and are hashed again at the next login.
            """,
            "default": "interactive",
        ],
        "token_days": [
            "description": "The number of days for which a token is valid. A change applies to new tokens.",
            "default": 30, "minimum": 1, "maximum": .number(JSONNumber(LoginSettings.maximumTokenDays)),
        ],
        "session_attempts": [
            "description": """
            The maximum number of logins that one session attempts in a minute. 0: unlimited. One more fails with busy.
            """,
            "default": .number(JSONNumber(LoginAttempts.Rules().session)), "minimum": 0,
            "maximum": .number(JSONNumber(LoginSettings.maximumAttempts)),
        ],
        "uid_attempts": [
            "description": """
            The maximum number of logins that one uid attempts in a minute. 0: unlimited. One more fails with busy.
            """,
            "default": .number(JSONNumber(LoginAttempts.Rules().uid)), "minimum": 0,
            "maximum": .number(JSONNumber(LoginSettings.maximumAttempts)),
        ],
    ]
}

/// The settings of the login service. The defaults are those of an empty configuration.
struct LoginSettings: Sendable {
    var cost = PasswordCost.interactive

    /// The lifetime of a token. It begins at the login by password and is not extended by use, which limits the time
    /// for which a leaked token is usable.
    var tokenLifetime = Duration.seconds(30 * 86_400)

    var lockOut = LockOut.Rules()

    var attempts = LoginAttempts.Rules()

    /// Ten years: a larger number is a typing error.
    static let maximumTokenDays = 3650

    /// More than a machine hashes in a minute.
    static let maximumAttempts = 1_000_000

    /// Applies the configuration.
    ///
    /// - Throws: `JSONMismatch` if a value is out of range.
    mutating func apply(_ configuration: LoginConfiguration) throws {
        switch configuration.passwordCost {
        case .interactive: cost = .interactive
        case .moderate: cost = .moderate
        case nil: break
        }
        if let number = configuration.sessionAttempts {
            attempts.session = try Self.checked(number, "$.session_attempts")
        }
        if let number = configuration.uidAttempts { attempts.uid = try Self.checked(number, "$.uid_attempts") }
        guard let days = configuration.tokenDays else { return }
        guard (1...Self.maximumTokenDays).contains(days) else {
            throw JSONMismatch(
                path: "$.token_days", expected: "an integer from 1 to \(Self.maximumTokenDays)", got: "number \(days)")
        }
        tokenLifetime = .seconds(days * 86_400)
    }

    private static func checked(_ attempts: Int, _ path: String) throws -> Int {
        guard (0...maximumAttempts).contains(attempts) else {
            throw JSONMismatch(
                path: path, expected: "an integer from 0 to \(maximumAttempts)", got: "number \(attempts)")
        }
        return attempts
    }
}

/// The clocks that the login service reads.
struct LoginClocks: Sendable {
    /// The clock for the expiry of tokens and the creation of accounts.
    var wall: @Sendable () -> WallTime = { .now() }

    /// The clock for the lock-out, which changes of the system clock must not affect: the time since a moment in the
    /// past.
    var monotonic: @Sendable () -> Duration = {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
