internal import CWebKitGTK
internal import MainLoop

extension SchemeRequest {
    private static let pieceBytes = 64 << 10

    /// The HTTP header fields, by name and value.
    public var fields: [(String, String)] {
        guard let headers = webkit_uri_scheme_request_get_http_headers(request.opaque) else { return [] }
        var fields: [(String, String)] = []
        var iterator = SoupMessageHeadersIter()
        soup_message_headers_iter_init(&iterator, headers)
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
            if let name, let value { fields.append((String(cString: name), String(cString: value))) }
        }
        return fields
    }

    /// Returns the body, which the engine has in memory. Reading a body that is a blob or a file ends this program:
    /// only call this for bodies that are known to be neither.
    ///
    /// - Parameter maximum: The maximum length.
    /// - Returns: The body; `nil` if it is longer, or cannot be read.
    public func body(atMost maximum: Int) -> [UInt8]? {
        guard let stream = webkit_uri_scheme_request_get_http_body(request.opaque) else { return [] }
        defer { g_object_unref(stream) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while bytes.count <= maximum {
            let count = g_input_stream_read(stream, &piece, gsize(piece.count), nil, nil)
            guard count > 0 else { return count == 0 ? bytes : nil }
            bytes += piece.prefix(Int(count))
        }
        return nil
    }
}
