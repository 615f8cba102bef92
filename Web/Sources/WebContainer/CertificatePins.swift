internal import WebKitViews

/// Certificates that are trusted although the engine does not trust them, each for one host.
@MainActor
struct CertificatePins {
    /// The maximum number of hosts with pins, and of remembered certificates.
    static let maximum = 64

    private var allowed: [String: String] = [:]
    private var failed: [CertificateFailure] = []

    /// Allows a certificate for a host; returns false if too many hosts have one.
    mutating func allow(_ host: String, _ sha256: String) -> Bool {
        guard allowed[host] != nil || allowed.count < Self.maximum else { return false }
        allowed[host] = sha256
        return true
    }

    /// Whether a certificate was allowed for its host.
    func isAllowed(_ failure: CertificateFailure) -> Bool {
        !failure.sha256.isEmpty && allowed[failure.host] == failure.sha256
    }

    /// Remembers a certificate, so that it can be allowed.
    mutating func note(_ failure: CertificateFailure) {
        failed.removeAll { $0.host == failure.host }
        if failed.count == Self.maximum { failed.removeFirst() }
        failed.append(failure)
    }

    /// Returns the last untrusted certificate of a host; `nil` for none.
    func lastFailure(of host: String) -> CertificateFailure? { failed.last { $0.host == host } }
}
