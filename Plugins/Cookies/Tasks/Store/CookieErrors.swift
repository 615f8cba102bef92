import DurableDatabase
import HTTPRules
import TaskKit

extension ErrorCode {
    /// The rules forbid the cookie.
    static let cookieRefused: ErrorCode = "cookie.refused"
    /// No cookie matches.
    static let cookieNotFound: ErrorCode = "cookie.not_found"
    /// The session is not attached as a container.
    static let cookieNotAttached: ErrorCode = "cookie.not_attached"
    /// The feed of changes no longer contains the requested version.
    static let cursorExpired: ErrorCode = "cursor.expired"
    /// The disk is full.
    static let storageFull: ErrorCode = "storage.full"
    /// The database could not be read or written.
    static let storageFailed: ErrorCode = "storage.failed"
}

extension BridgeError {
    /// Returns the error for an invalid option at a JSON path such as `$.cookie`.
    static func unfit(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(
            .optionsInvalid, "\(path): expected \(expected); got \(got)",
            data: ["path": .string(path), "expected": .string(expected), "got": .string(got)])
    }

    /// Returns the error for a cookie that the rules forbid.
    static func refused(_ refusal: CookieRefusal) -> BridgeError {
        BridgeError(
            .cookieRefused, "the cookie is refused: \(refusal.reason.sentence)",
            data: ["reason": .string(refusal.reason.name)])
    }

    static func cursorExpired(since: UInt64, oldest: UInt64, version: UInt64) -> BridgeError {
        BridgeError(
            .cursorExpired,
            "changes are kept from version \(oldest) on, not from \(since): read the cookies again, then watch",
            data: [
                "since": .number(JSONNumber(since)), "oldest": .number(JSONNumber(oldest)),
                "version": .number(JSONNumber(version)),
            ])
    }

    static func overQuota(_ quota: String, _ limit: Int, of whom: String, _ advice: String) -> BridgeError {
        BridgeError(
            .quotaExceeded, "\(whom) may have \(advice)",
            data: ["quota": .string(quota), "limit": .number(JSONNumber(limit)), "of": .string(whom)])
    }

    /// Creates the error for callers, without a path and without a text of the system.
    init(_ failure: DatabaseFailure) {
        self.init(
            failure,
            failure.isFull
                ? "nothing was stored: the disk is full" : "the cookies cannot be used: see the daemon's log")
    }

    /// Creates the error with the message for the operator.
    init(forOperator failure: DatabaseFailure) { self.init(failure, failure.description) }

    private init(_ failure: DatabaseFailure, _ message: String) {
        self.init(failure.isFull ? .storageFull : .storageFailed, message, isTransient: failure.isFull)
    }

    static var storeNotOpen: BridgeError {
        BridgeError(.pluginUnavailable, "the cookie store is not open", isTransient: true)
    }
}

extension CookieRefusal.Reason {
    fileprivate var sentence: String {
        switch self {
        case .publicSuffix: "its domain is a public suffix"
        case .domain: "its domain is not the host's own or one above it"
        case .secure: "it requires a secure connection or the attribute Secure, or hides a Secure cookie"
        case .prefix: "its attributes do not match the prefix of its name"
        case .httpOnly: "a script cannot set or replace an HttpOnly cookie"
        case .tooLarge: "it is too long"
        case .sameSite: "it is kept from other sites, and a request of another site would set it"
        default: "it has a character that no cookie has, or neither name nor value"
        }
    }
}
