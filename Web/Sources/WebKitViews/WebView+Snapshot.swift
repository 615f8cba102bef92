internal import CWebKitGTK
internal import MainLoop

extension WebView {
    /// Returns a picture of the view as PNG. The view must be in a window.
    ///
    /// - Parameter isFull: Whether the picture contains the whole document, and not only the visible part.
    /// - Throws: The reason why there is no picture.
    public func snapshot(full isFull: Bool = false) async throws(EngineError) -> [UInt8] {
        let region = isFull ? WEBKIT_SNAPSHOT_REGION_FULL_DOCUMENT : WEBKIT_SNAPSHOT_REGION_VISIBLE
        let result: Result<[UInt8], EngineError> = await withCheckedContinuation { continuation in
            let pointer = pointer
            let data = AsyncResult.pointer { continuation.resume(returning: Self.picture(pointer, $0)) }
            webkit_web_view_get_snapshot(
                pointer, region, WEBKIT_SNAPSHOT_OPTIONS_NONE, nil, AsyncResult.callback, data)
        }
        return try result.get()
    }

    private static func picture(
        _ view: UnsafeMutablePointer<WebKitWebView>, _ result: OpaquePointer
    ) -> Result<[UInt8], EngineError> {
        var error: UnsafeMutablePointer<GError>?
        guard let texture = webkit_web_view_get_snapshot_finish(view, result, &error) else {
            return .failure(EngineError(owning: error))
        }
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        guard let bytes = gdk_texture_save_to_png_bytes(texture) else { return .failure(EngineError(owning: nil)) }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        guard let start = g_bytes_get_data(bytes, &count) else { return .success([]) }
        return .success(Array(UnsafeRawBufferPointer(start: start, count: Int(count))))
    }
}
