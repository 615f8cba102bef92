import HTTPRules
import TaskKit

extension ErrorCode {
    static let httpRefused: ErrorCode = "http.refused"
    static let httpDNS: ErrorCode = "http.dns"
    static let httpConnect: ErrorCode = "http.connect"
    static let httpTimeout: ErrorCode = "http.timeout"
    static let httpInterrupted: ErrorCode = "http.interrupted"
    static let httpTLS: ErrorCode = "http.tls"
    static let httpProtocol: ErrorCode = "http.protocol"
    static let httpDecoding: ErrorCode = "http.decoding"
    static let httpIntegrity: ErrorCode = "http.integrity"
    static let httpRedirects: ErrorCode = "http.redirects"
    static let httpTooLarge: ErrorCode = "http.too_large"
    static let httpBodyUsed: ErrorCode = "http.body_used"
    static let httpCacheMiss: ErrorCode = "http.cache_miss"
    static let httpFile: ErrorCode = "http.file"
    static let storageFailed: ErrorCode = "storage.failed"
}

/// The reason why a request is refused.
enum Refusal: String, Sendable {
    /// The address is not public, and no setting opens its network.
    case privateAddress = "private_address"
    /// The port is closed to all requests.
    case port
    /// The scheme is neither http nor https.
    case scheme
    /// A redirect leads from https to http.
    case downgrade
    /// The daemon has no network.
    case noNetwork = "no_network"
}

/// The limit that was exceeded.
enum SizeBound: String, Sendable {
    case headers
    case body
    case decoded
}

extension BridgeError {
    /// Returns `http.refused`.
    static func refused(_ reason: Refusal, _ message: String, host: Host?, address: IPAddress? = nil) -> BridgeError {
        var data: JSONObject = ["reason": .string(reason.rawValue)]
        data["host"] = host.map { .string($0.text) }
        data["address"] = address.map { .string($0.text) }
        return BridgeError(.httpRefused, message, data: .object(data))
    }

    /// Returns `http.refused` for a daemon without network access.
    static func noNetwork(_ obstacle: String, host: Host?) -> BridgeError {
        .refused(
            .noNetwork, "no request can be sent: \(obstacle); the drop-in trestle-network.conf opens the network",
            host: host)
    }

    /// Returns `http.too_large`.
    static func tooLarge(_ what: SizeBound, limit: Int64, _ message: String) -> BridgeError {
        BridgeError(
            .httpTooLarge, message, data: ["what": .string(what.rawValue), "limit": .number(JSONNumber(limit))])
    }

    /// Returns `http.protocol`.
    static func brokenProtocol(_ message: String) -> BridgeError { BridgeError(.httpProtocol, message) }

    /// Returns `http.decoding`.
    static func undecodable(_ message: String) -> BridgeError { BridgeError(.httpDecoding, message) }

    /// Returns `options.invalid` for one option.
    static func invalidOption(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(JSONMismatch(path: path, expected: expected, got: got))
    }

    /// Returns the error for an invalid URL.
    static func invalidURL(_ refusal: AddressRefusal) -> BridgeError {
        if refusal.reason == .scheme {
            return .refused(.scheme, "the URL cannot be fetched: \(refusal.description)", host: nil)
        }
        return invalidOption("$.url", expected: "a URL", got: "one that cannot be used: \(refusal.description)")
    }

    /// `http.integrity`.
    static let integrityMismatch = BridgeError(
        .httpIntegrity, "the body does not have the hash that the option integrity names")

    /// The error of a cancelled fetch.
    static let fetchCancelled = BridgeError(.callCancelled, "the fetch was cancelled")
}
