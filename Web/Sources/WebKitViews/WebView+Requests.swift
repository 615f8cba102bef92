internal import CWebKitGTK
internal import MainLoop

/// A permission of a page.
public enum PermissionKind: String, Sendable, Hashable, CaseIterable {
    // In the order of the bits of `trestle_permission_bits`.
    case geolocation, notifications, camera, microphone, display, clipboard
    case pointerLock = "pointer_lock"
    case deviceInfo = "device_info"
    case mediaKeys = "media_keys"
    case storageAccess = "storage_access"
    /// Files that the user chooses.
    case files
    /// The print dialog.
    case print
}

/// An untrusted certificate.
public struct CertificateFailure: Error {
    /// The address.
    public let uri: String
    /// The host of the address.
    public let host: String
    /// The reasons: `unknown-ca`, `bad-identity`, `not-activated`, `expired`, `revoked`, `insecure`, `other`.
    public let errors: [String]
    /// The certificate's SHA-256 in hexadecimal.
    public let sha256: String
    let certificate: GObjectBox
}

extension WebView {
    func connectRequests() {
        object.connect("permission-request") { [weak self] arguments in
            guard let request = arguments.object(1) else { return false }
            let bits = trestle_permission_bits(request)
            let kinds = PermissionKind.allCases.enumerated().filter { bits & (1 << $0.offset) != 0 }.map(\.element)
            let isAllowed = !kinds.isEmpty && kinds.allSatisfy { self?.isAllowed($0) ?? false }
            if isAllowed {
                webkit_permission_request_allow(OpaquePointer(request))
            } else {
                webkit_permission_request_deny(OpaquePointer(request))
            }
            return true
        }
        object.connect("run-file-chooser") { [weak self] arguments in
            guard let request = arguments.object(1), self?.isAllowed(.files) != true else { return false }
            webkit_file_chooser_request_cancel(OpaquePointer(request))
            return true
        }
        object.connect("print") { [weak self] _ in self?.isAllowed(.print) != true }
        object.connect("authenticate") { [weak self] arguments in
            guard let self, let request = arguments.object(1) else { return false }
            guard let question = AuthenticationQuestion(request) else {
                webkit_authentication_request_cancel(OpaquePointer(request))
                return true
            }
            delegate?.webView(self, authenticates: question)
            return true
        }
        object.connect("load-failed-with-tls-errors") { [weak self] arguments in
            guard let self, let certificate = arguments.object(2) else { return true }
            let failure = CertificateFailure(
                certificate, uri: arguments.string(1), errors: arguments.flags(3))
            hasFailed = true
            delegate?.webView(self, distrusts: failure)
            return true
        }
        object.connectObject("create") { [weak self] arguments in
            guard let self, let action = arguments.boxed(1) else { return nil }
            let request = NavigationRequest(OpaquePointer(action), isForNewWindow: true)
            return delegate?.webView(self, opens: request)?.object
        }
        object.observe("ready-to-show") { [weak self] _ in self.map { $0.delegate?.webViewReadyToShow($0) } }
        // The engine's menu: reload, inspector, links in new windows.
        object.connect("context-menu") { [weak self] _ in self?.hasContextMenu != true }
    }

    private func isAllowed(_ kind: PermissionKind) -> Bool { delegate?.webView(self, mayUse: kind) ?? false }
}

extension NavigationRequest {
    init(_ action: OpaquePointer?, isForNewWindow: Bool) {
        let uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action))
        self.init(
            uri: uri.map { String(cString: $0) } ?? "", isForNewWindow: isForNewWindow,
            isUserGesture: webkit_navigation_action_is_user_gesture(action) != 0,
            isRedirect: webkit_navigation_action_is_redirect(action) != 0)
    }
}

extension CertificateFailure {
    private static let names = [
        "unknown-ca", "bad-identity", "not-activated", "expired", "revoked", "insecure", "other",
    ]

    @MainActor
    fileprivate init(_ certificate: UnsafeMutableRawPointer, uri: String, errors: UInt32) {
        self.uri = uri
        let parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, nil)
        host = parsed.flatMap { g_uri_get_host($0) }.map { String(cString: $0) } ?? ""
        if let parsed { g_uri_unref(parsed) }
        self.errors = Self.names.enumerated().filter { errors & (1 << $0.offset) != 0 }.map(\.element)
        let sum = trestle_certificate_sha256(certificate)
        sha256 = sum.map { String(cString: $0) } ?? ""
        g_free(sum)
        self.certificate = GObjectBox(retaining: certificate)
    }
}

extension WebEngine {
    /// Trusts a certificate for its host, until the process ends.
    ///
    /// - Parameter failure: The failure with the certificate.
    public func trust(_ failure: CertificateFailure) {
        webkit_network_session_allow_tls_certificate_for_host(
            session.opaque, failure.certificate.pointer(to: GTlsCertificate.self), failure.host)
    }
}
