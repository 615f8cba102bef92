internal import CWebKitGTK
internal import Glibc
internal import MainLoop

/// The reason why filters were not compiled.
public enum FilterFault: Error, Sendable, Hashable {
    /// The engine does not accept them.
    case wrong(EngineError)
    /// Another error occurred: the filters may be valid.
    case failed(EngineError)
}

/// Rules for what views load and show, compiled by the engine.
@MainActor
public final class ContentFilter {
    let raw: OpaquePointer

    /// Takes over a reference.
    fileprivate init(owning raw: OpaquePointer) { self.raw = raw }

    isolated deinit { webkit_user_content_filter_unref(raw) }

    /// Compiles rules in a separate process: the engine needs unlimited time for an expression such as
    /// `.*a[ab][ab][ab]…`, and cannot be stopped. It works in a folder that is removed afterwards.
    ///
    /// - Parameters:
    ///   - source: The rules, in the JSON format of WebKit's content filters.
    ///   - program: The program, with arguments, that calls ``save(_:in:)`` with its standard input and with the
    ///     folder, which is its last argument. It exits with 0, or writes the problem of the rules and exits with 1. It
    ///     limits its CPU time with SIGXCPU.
    /// - Throws: The problem of the rules, or the reason why they were not compiled.
    public static func compile(_ source: String, by program: [String]) async throws(FilterFault) -> ContentFilter {
        var error: UnsafeMutablePointer<GError>?
        guard let path = g_dir_make_tmp("trestle-web-XXXXXX", &error) else {
            throw .failed(EngineError(owning: error))
        }
        let folder = String(cString: path)
        g_free(path)
        defer { rmdir(folder) }
        let store = Store(folder)
        let end = await HelperProcess.run(program + [folder], input: Array(source.utf8))
        let result: Result<ContentFilter, FilterFault> =
            switch end {
            case .exited(0, _): await store.load().mapError { .failed($0) }
            case .exited(1, let text): .failure(.wrong(EngineError(text)))
            case .killed(SIGXCPU):
                .failure(.wrong(EngineError("they take too long to compile; make their expressions simpler")))
            case .exited(let status, _):
                .failure(.failed(EngineError("their compiler ended with the status \(status); try again")))
            case .killed(let signal):
                .failure(.failed(EngineError("their compiler was ended by the signal \(signal); try again")))
            case .failed(let error): .failure(.failed(error))
            }
        // The compiled rules are mapped, so their file may be removed. A killed process may leave a part of one.
        await store.remove()
        removeFiles(in: folder)
        return try result.get()
    }

    /// Compiles rules into a folder, in the process of ``compile(_:by:)``.
    ///
    /// - Parameters:
    ///   - source: The rules.
    ///   - folder: The folder.
    /// - Throws: The problem of the rules.
    public static func save(_ source: [UInt8], in folder: String) async throws(EngineError) {
        try await Store(folder).save(source)
    }

    private static func removeFiles(in folder: String) {
        guard let stream = g_dir_open(folder, 0, nil) else { return }
        defer { g_dir_close(stream) }
        while let name = g_dir_read_name(stream) { unlink("\(folder)/\(String(cString: name))") }
    }
}

/// The compiled rules of a folder.
@MainActor
private final class Store {
    private static let name = "filter"
    private let object: GObjectBox

    init(_ folder: String) {
        guard let store = webkit_user_content_filter_store_new(folder) else {
            preconditionFailure("WebKit makes a store")
        }
        object = GObjectBox(owning: UnsafeMutableRawPointer(store))
    }

    func save(_ source: [UInt8]) async throws(EngineError) {
        let store = object.opaque
        let result: Result<ContentFilter, EngineError> = await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                let filter = webkit_user_content_filter_store_save_finish(store, outcome, &error)
                continuation.resume(returning: Self.result(filter, error))
            }
            let text = g_bytes_new(source, gsize(source.count))
            webkit_user_content_filter_store_save(store, Self.name, text, nil, AsyncResult.callback, data)
            g_bytes_unref(text)
        }
        _ = try result.get()
    }

    func load() async -> Result<ContentFilter, EngineError> {
        let store = object.opaque
        return await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                let filter = webkit_user_content_filter_store_load_finish(store, outcome, &error)
                continuation.resume(returning: Self.result(filter, error))
            }
            webkit_user_content_filter_store_load(store, Self.name, nil, AsyncResult.callback, data)
        }
    }

    private static func result(
        _ filter: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?
    ) -> Result<ContentFilter, EngineError> {
        filter.map { .success(ContentFilter(owning: $0)) } ?? .failure(EngineError(owning: error))
    }

    func remove() async {
        let store = object.opaque
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let data = AsyncResult.pointer { outcome in
                // There is none if the rules were wrong.
                _ = webkit_user_content_filter_store_remove_finish(store, outcome, nil)
                continuation.resume()
            }
            webkit_user_content_filter_store_remove(store, Self.name, nil, AsyncResult.callback, data)
        }
    }
}

extension WebView {
    /// Sets the rules for what is loaded and shown from now on.
    ///
    /// - Parameter filters: All filters.
    public func setFilters(_ filters: [ContentFilter]) {
        webkit_user_content_manager_remove_all_filters(content.opaque)
        for filter in filters { webkit_user_content_manager_add_filter(content.opaque, filter.raw) }
    }
}
