internal import CWebKitGTK

/// A server that asks for a name and a password. Answered once; cancelled where it is dropped.
public struct AuthenticationQuestion: ~Copyable {
    private let request: OpaquePointer

    /// Nil: it asks for something else, such as a client's certificate.
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

    /// The server's name, or the proxy's.
    public var host: String { webkit_authentication_request_get_host(request).map { String(cString: $0) } ?? "" }
    /// Its port.
    public var port: Int { Int(webkit_authentication_request_get_port(request)) }
    /// What the server calls the place.
    public var realm: String { webkit_authentication_request_get_realm(request).map { String(cString: $0) } ?? "" }
    /// An earlier answer was wrong.
    public var isRetry: Bool { webkit_authentication_request_is_retry(request) != 0 }
    /// A proxy asks.
    public var isForProxy: Bool { webkit_authentication_request_is_for_proxy(request) != 0 }

    /// Answers. The engine keeps the answer until the process ends.
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
