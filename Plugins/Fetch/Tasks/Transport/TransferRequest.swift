import CCurl
import HTTPRules
import TaskKit

/// How servers are verified. That they are cannot be turned off.
struct TLSSettings: Sendable, Hashable {
    /// A file of certificates that are trusted in place of the system's.
    var authorityFile: String?
    /// The keys that certificates of some hosts may have.
    var pins: [Pin] = []

    /// The keys of one host, or of all below a domain.
    struct Pin: Sendable, Hashable {
        var host: Host
        var isBelow: Bool
        /// SHA-256 of public keys, in base 64.
        var keys: [String]

        func covers(_ other: Host) -> Bool { isBelow ? other.isBelow(host) : other == host }
    }

    /// Whether a host is to have one of some keys.
    func hasPins(for host: Host) -> Bool { pins.contains { $0.covers(host) } }

    /// Sets up a transfer to a host that has pins. The rest is of ``StandingOptions``.
    func setPins(of host: Host, on handle: UnsafeMutableRawPointer) -> Bool {
        // Of several tables each has to hold: what one of them lacks is not taken.
        let sets = pins.filter { $0.covers(host) }.map { Set($0.keys) }
        guard let first = sets.first else { return true }
        let keys = sets.dropFirst().reduce(first) { $0.intersection($1) }.sorted()
        // Without any, no key is right.
        let text = keys.isEmpty ? "sha256//none" : keys.map { "sha256//\($0)" }.joined(separator: ";")
        return ccurl_set_text(handle, CURLOPT_PINNEDPUBLICKEY, text)
    }
}

/// One request to one server, checked.
struct TransferRequest: Sendable {
    var url: WebURL
    var method: String
    var headers: HeaderList
    var body: RequestBody?
    /// A body that only leads elsewhere is not wanted.
    var dropsRedirects: Bool
    /// Whether a body is to come as it was sent; nil: none is. On the network's thread.
    var keepsCoding: (@Sendable (ResponseHead) -> Bool)?
    var maximumBodyBytes: Int64
    var integrity: IntegrityMetadata?
    /// How long it may take until the request can be sent.
    var connectTimeout: Duration
    /// How long nothing may come or go.
    var idleTimeout: Duration
    var gate: AddressGate
    /// The proxy that the request goes by; nil: none.
    var proxy: String?
    var tls: TLSSettings
    /// Gets each phase that it comes to, on the network's thread; nil: nobody wants it.
    var onPhase: (@Sendable (TransferProgress.Phase) -> Void)?
    /// The same with its bytes, and again while they change.
    var onProgress: (@Sendable (TransferProgress) -> Void)?
}
