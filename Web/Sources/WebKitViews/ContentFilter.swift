internal import CWebKitGTK
internal import Glibc
internal import MainLoop

/// Rules of what views load and show, compiled by the engine.
@MainActor
public final class ContentFilter {
    let raw: OpaquePointer

    /// Takes over a reference.
    fileprivate init(owning raw: OpaquePointer) { self.raw = raw }

    isolated deinit { webkit_user_content_filter_unref(raw) }

    /// Compiles rules, on a thread of the engine's. The engine does this in a folder, which goes again.
    ///
    /// - Parameter source: The rules, as JSON that WebKit's content filters have.
    /// - Throws: What is wrong with them, or with the folder.
    public static func compile(_ source: String) async throws(EngineError) -> ContentFilter {
        var error: UnsafeMutablePointer<GError>?
        guard let folder = g_dir_make_tmp("trestle-web-XXXXXX", &error) else { throw EngineError(owning: error) }
        defer {
            rmdir(folder)
            g_free(folder)
        }
        guard let store = webkit_user_content_filter_store_new(folder) else {
            preconditionFailure("WebKit makes a store")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(store)) }
        let result = await save(source, store)
        // The compiled rules are mapped: their file need not stay.
        await remove(store)
        return try result.get()
    }

    private static let name = "filter"

    private static func save(_ source: String, _ store: OpaquePointer) async -> Result<ContentFilter, EngineError> {
        await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                guard let filter = webkit_user_content_filter_store_save_finish(store, outcome, &error) else {
                    return continuation.resume(returning: .failure(EngineError(owning: error)))
                }
                continuation.resume(returning: .success(ContentFilter(owning: filter)))
            }
            let bytes = Array(source.utf8)
            let text = g_bytes_new(bytes, gsize(bytes.count))
            webkit_user_content_filter_store_save(store, name, text, nil, AsyncResult.callback, data)
            g_bytes_unref(text)
        }
    }

    private static func remove(_ store: OpaquePointer) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let data = AsyncResult.pointer { outcome in
                // There is none where the rules were wrong.
                _ = webkit_user_content_filter_store_remove_finish(store, outcome, nil)
                continuation.resume()
            }
            webkit_user_content_filter_store_remove(store, name, nil, AsyncResult.callback, data)
        }
    }
}

extension WebView {
    /// Sets the rules for what is loaded and shown from now on.
    ///
    /// - Parameter filters: All of them.
    public func setFilters(_ filters: [ContentFilter]) {
        webkit_user_content_manager_remove_all_filters(content.opaque)
        for filter in filters { webkit_user_content_manager_add_filter(content.opaque, filter.raw) }
    }
}
