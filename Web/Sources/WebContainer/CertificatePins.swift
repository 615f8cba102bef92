internal import WebKitViews

/// Certificates that are trusted though the engine does not, each for one host.
@MainActor
struct CertificatePins {
    /// Hosts with pins, and certificates that are remembered.
    static let maximum = 64

    private var allowed: [String: String] = [:]
    private var failed: [CertificateFailure] = []

    /// Allows a certificate for a host; false where too many hosts have one.
    mutating func allow(_ host: String, _ sha256: String) -> Bool {
        guard allowed[host] != nil || allowed.count < Self.maximum else { return false }
        allowed[host] = sha256
        return true
    }

    /// Whether a certificate is one that was allowed for its host.
    func isAllowed(_ failure: CertificateFailure) -> Bool {
        !failure.sha256.isEmpty && allowed[failure.host] == failure.sha256
    }

    /// Remembers a certificate, so that it can be allowed.
    mutating func note(_ failure: CertificateFailure) {
        failed.removeAll { $0.host == failure.host }
        if failed.count == Self.maximum { failed.removeFirst() }
        failed.append(failure)
    }

    /// The last certificate of a host that was not trusted.
    func lastFailure(of host: String) -> CertificateFailure? { failed.last { $0.host == host } }
}
