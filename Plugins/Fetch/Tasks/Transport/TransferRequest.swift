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

    /// Sets up a transfer to a host.
    func apply(to handle: UnsafeMutableRawPointer, _ host: Host) -> Bool {
        // Of several tables each has to hold: what one of them lacks is not taken.
        let sets = pins.filter { $0.covers(host) }.map { Set($0.keys) }
        if let first = sets.first {
            let keys = sets.dropFirst().reduce(first) { $0.intersection($1) }.sorted()
            // Without any, no key is right.
            let text = keys.isEmpty ? "sha256//none" : keys.map { "sha256//\($0)" }.joined(separator: ";")
            guard ccurl_set_text(handle, CURLOPT_PINNEDPUBLICKEY, text) else { return false }
        }
        let isSet =
            ccurl_set_long(handle, CURLOPT_SSL_VERIFYPEER, 1) && ccurl_set_long(handle, CURLOPT_SSL_VERIFYHOST, 2)
            && ccurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        guard isSet, let authorityFile else { return isSet }
        return ccurl_set_text(handle, CURLOPT_CAINFO, authorityFile) && ccurl_set_text(handle, CURLOPT_CAPATH, nil)
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
