internal import CWebKitGTK
internal import Glibc
internal import MainLoop

/// A request for an address with a scheme of this program. Answered once; it fails if it is released without an answer.
@MainActor
public final class SchemeRequest {
    /// The body of an answer.
    public enum Body: Sendable {
        /// No body.
        case none
        /// The bytes that can be read from a descriptor, and their number or -1. Takes ownership of the descriptor.
        case descriptor(Int32, byteCount: Int64)
    }

    let request: GObjectBox
    private var isAnswered = false

    init(_ raw: OpaquePointer) { request = GObjectBox(retaining: UnsafeMutableRawPointer(raw)) }

    isolated deinit { fail("trestle-web", 0, "the request was dropped") }

    /// The address.
    public var uri: String { webkit_uri_scheme_request_get_uri(request.opaque).map { String(cString: $0) } ?? "" }

    /// The HTTP method.
    public var method: String {
        webkit_uri_scheme_request_get_http_method(request.opaque).map { String(cString: $0) } ?? "GET"
    }

    /// Whether the request comes from a view.
    ///
    /// - Parameter view: The view.
    public func isOf(_ view: WebView) -> Bool {
        webkit_uri_scheme_request_get_web_view(request.opaque) == view.pointer
    }

    /// Answers the request.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - type: The media type; `nil` for none.
    ///   - fields: Other header fields, by name and value.
    ///   - body: The body.
    public func answer(_ status: Int, type: String?, fields: [(String, String)], _ body: Body) {
        guard !isAnswered else {
            if case .descriptor(let descriptor, _) = body { close(descriptor) }
            return
        }
        isAnswered = true
        let stream: UnsafeMutablePointer<GInputStream>?
        let count: Int
        switch body {
        case .none: (stream, count) = (g_memory_input_stream_new(), 0)
        case .descriptor(let descriptor, let byteCount):
            (stream, count) = (g_unix_input_stream_new(descriptor, 1), Int(byteCount))
        }
        let response = webkit_uri_scheme_response_new(stream, count)
        webkit_uri_scheme_response_set_status(response, UInt32(status), nil)
        if let type { webkit_uri_scheme_response_set_content_type(response, type) }
        let headers = soup_message_headers_new(SOUP_MESSAGE_HEADERS_RESPONSE)
        // Scripts read the type from here.
        if let type { soup_message_headers_append(headers, "Content-Type", type) }
        for (name, value) in fields { soup_message_headers_append(headers, name, value) }
        // Takes ownership of the headers.
        webkit_uri_scheme_response_set_http_headers(response, headers)
        webkit_uri_scheme_request_finish_with_response(request.opaque, response)
        if let response { g_object_unref(UnsafeMutableRawPointer(response)) }
        if let stream { g_object_unref(stream) }
    }

    /// Fails the request.
    ///
    /// - Parameters:
    ///   - domain: The error domain; see ``LoadFailure/domain``.
    ///   - number: The error number in the domain.
    ///   - message: The message.
    public func fail(_ domain: String, _ number: Int, _ message: String) {
        guard !isAnswered else { return }
        isAnswered = true
        let error = trestle_error_new(domain, Int32(number), message)
        webkit_uri_scheme_request_finish_error(request.opaque, error)
        g_error_free(error)
    }
}

extension WebEngine {
    /// Registers the handler of a scheme whose addresses have hosts. Its pages are secure contexts, and pages of other
    /// schemes can neither request its addresses nor frame, open or post to them. Call it once for each scheme, before
    /// the first view.
    ///
    /// - Parameters:
    ///   - scheme: The scheme.
    ///   - handler: The closure that answers requests.
    public func serve(_ scheme: String, _ handler: @escaping @MainActor (SchemeRequest) -> Void) {
        let context = context.opaque
        let security = webkit_web_context_get_security_manager(context)
        webkit_security_manager_register_uri_scheme_as_secure(security, scheme)
        webkit_security_manager_register_uri_scheme_as_cors_enabled(security, scheme)
        webkit_security_manager_register_uri_scheme_as_display_isolated(security, scheme)
        webkit_web_context_register_uri_scheme(
            context, scheme, SchemeHandler.call, SchemeHandler(handler).retained, SchemeHandler.release)
    }
}

/// A closure that the engine calls with requests.
@MainActor
private final class SchemeHandler {
    private let body: @MainActor (SchemeRequest) -> Void

    init(_ body: @escaping @MainActor (SchemeRequest) -> Void) { self.body = body }

    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    nonisolated static let call: WebKitURISchemeRequestCallback = { request, data in
        guard let data, let request else { return }
        // The engine calls on the main thread, and retains the request until this returns.
        let box = Unmanaged<SchemeHandler>.fromOpaque(data)
        nonisolated(unsafe) let raw = request
        MainActor.assumeIsolated {
            let body = box.takeUnretainedValue().body
            MainLoop.measuring("request") { body(SchemeRequest(raw)) }
        }
    }

    nonisolated static let release: GDestroyNotify = { data in
        guard let data else { return }
        Unmanaged<AnyObject>.fromOpaque(data).release()
    }
}
