import CCurl
import HTTPRules
import TaskKit

/// The settings for the verification of servers. Verification cannot be turned off.
struct TLSSettings: Sendable, Hashable {
    /// A file of certificates that are trusted instead of the system's; `nil` for the system's.
    var authorityFile: String?
    /// The keys that the certificates of some hosts may have.
    var pins: [Pin] = []

    /// The keys of one host, or of all hosts below a domain.
    struct Pin: Sendable, Hashable {
        var host: Host
        var isBelow: Bool
        /// The SHA-256 hashes of public keys, in base 64.
        var keys: [String]

        func covers(_ other: Host) -> Bool { isBelow ? other.isBelow(host) : other == host }
    }

    /// Returns whether a host must have one of some keys.
    func hasPins(for host: Host) -> Bool { pins.contains { $0.covers(host) } }

    /// Sets the pins of a host on a handle. ``StandingOptions`` sets the other TLS options.
    func setPins(of host: Host, on handle: UnsafeMutableRawPointer) -> Bool {
        // If several tables match, only keys that all of them contain are accepted.
        let sets = pins.filter { $0.covers(host) }.map { Set($0.keys) }
        guard let first = sets.first else { return true }
        let keys = sets.dropFirst().reduce(first) { $0.intersection($1) }.sorted()
        // Without a common key, no key is accepted.
        let text = keys.isEmpty ? "sha256//none" : keys.map { "sha256//\($0)" }.joined(separator: ";")
        return ccurl_set_text(handle, CURLOPT_PINNEDPUBLICKEY, text)
    }
}

/// A checked request to one server.
struct TransferRequest: Sendable {
    var url: WebURL
    var method: String
    var headers: HeaderList
    var body: RequestBody?
    /// Whether the bodies of redirects are dropped.
    var dropsRedirects: Bool
    /// Returns whether a body is delivered as sent; `nil` if every body is decoded. Called on the network's thread.
    var keepsCoding: (@Sendable (ResponseHead) -> Bool)?
    var maximumBodyBytes: Int64
    var integrity: IntegrityMetadata?
    /// The maximum time until the request can be sent.
    var connectTimeout: Duration
    /// The maximum time without any bytes sent or received.
    var idleTimeout: Duration
    var gate: AddressGate
    /// The proxy of the request; `nil` for none.
    var proxy: String?
    var tls: TLSSettings
    /// Receives each new phase, on the network's thread; `nil` if phases are not reported.
    var onPhase: (@Sendable (TransferProgress.Phase) -> Void)?
    /// Receives the phase and the number of bytes, repeatedly while they change; `nil` if progress is not reported.
    var onProgress: (@Sendable (TransferProgress) -> Void)?
}
