internal import CWebKitGTK

/// A server's request for a name and a password. Answered once; cancelled if it is released without an answer.
public struct AuthenticationQuestion: ~Copyable {
    private let request: OpaquePointer

    /// `nil` if it requests something else, such as a client certificate.
    init?(_ request: UnsafeMutableRawPointer) {
        switch webkit_authentication_request_get_scheme(OpaquePointer(request)) {
        case WEBKIT_AUTHENTICATION_SCHEME_HTTP_BASIC, WEBKIT_AUTHENTICATION_SCHEME_HTTP_DIGEST,
            WEBKIT_AUTHENTICATION_SCHEME_NTLM, WEBKIT_AUTHENTICATION_SCHEME_DEFAULT:
            self.request = OpaquePointer(request)
            g_object_ref(request)
        default: return nil
        }
    }

    deinit {
        webkit_authentication_request_cancel(request)
        g_object_unref(UnsafeMutableRawPointer(request))
    }

    /// The host name of the server or the proxy.
    public var host: String { webkit_authentication_request_get_host(request).map { String(cString: $0) } ?? "" }
    /// The port.
    public var port: Int { Int(webkit_authentication_request_get_port(request)) }
    /// The realm that the server names.
    public var realm: String { webkit_authentication_request_get_realm(request).map { String(cString: $0) } ?? "" }
    /// Whether an earlier answer was wrong.
    public var isRetry: Bool { webkit_authentication_request_is_retry(request) != 0 }
    /// Whether a proxy sends the request.
    public var isForProxy: Bool { webkit_authentication_request_is_for_proxy(request) != 0 }

    /// Answers the request. The engine keeps the answer until the process ends.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - password: The password.
    public consuming func answer(user: String, password: String) {
        let credential = webkit_credential_new(user, password, WEBKIT_CREDENTIAL_PERSISTENCE_FOR_SESSION)
        webkit_authentication_request_authenticate(request, credential)
        webkit_credential_free(credential)
        g_object_unref(UnsafeMutableRawPointer(request))
        discard self
    }
}
