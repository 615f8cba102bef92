internal import CWebKitGTK
internal import MainLoop

/// The data that the engine stores for a site.
public struct WebsiteDataRecord: Sendable, Hashable {
    /// The site, as the engine names it: usually a domain.
    public var name: String
    /// The kinds of the stored data.
    public var types: [WebsiteDataType]
}

/// The kinds of data that the engine stores. The daemon's task `data.records` uses the same names.
public enum WebsiteDataType: String, Sendable, Hashable, CaseIterable, Codable {
    case memoryCache
    case diskCache
    case offlineCache
    case sessionStorage
    case localStorage
    case indexedDB
    case cookies
    case deviceIDs
    case hsts
    case trackingPrevention
    case serviceWorkers
    case fetchCache
    /// Web SQL databases. This engine has none; clients of the daemon may name the type.
    case webSQL

    fileprivate var flag: WebKitWebsiteDataTypes {
        switch self {
        case .memoryCache: WEBKIT_WEBSITE_DATA_MEMORY_CACHE
        case .diskCache: WEBKIT_WEBSITE_DATA_DISK_CACHE
        case .offlineCache: WEBKIT_WEBSITE_DATA_OFFLINE_APPLICATION_CACHE
        case .sessionStorage: WEBKIT_WEBSITE_DATA_SESSION_STORAGE
        case .localStorage: WEBKIT_WEBSITE_DATA_LOCAL_STORAGE
        case .indexedDB: WEBKIT_WEBSITE_DATA_INDEXEDDB_DATABASES
        case .cookies: WEBKIT_WEBSITE_DATA_COOKIES
        case .deviceIDs: WEBKIT_WEBSITE_DATA_DEVICE_ID_HASH_SALT
        case .hsts: WEBKIT_WEBSITE_DATA_HSTS_CACHE
        case .trackingPrevention: WEBKIT_WEBSITE_DATA_ITP
        case .serviceWorkers: WEBKIT_WEBSITE_DATA_SERVICE_WORKER_REGISTRATIONS
        case .fetchCache: WEBKIT_WEBSITE_DATA_DOM_CACHE
        case .webSQL: WebKitWebsiteDataTypes(0)
        }
    }

    fileprivate static func flags(_ types: [WebsiteDataType]) -> WebKitWebsiteDataTypes {
        WebKitWebsiteDataTypes(types.reduce(0) { $0 | $1.flag.rawValue })
    }
}

extension WebEngine {
    private var manager: OpaquePointer? { webkit_network_session_get_website_data_manager(session.opaque) }

    /// Returns the sites with stored data and its kinds.
    ///
    /// - Parameter types: The requested kinds.
    /// - Throws: The reason why the engine cannot list it.
    public func dataRecords(_ types: [WebsiteDataType]) async throws(EngineError) -> [WebsiteDataRecord] {
        try await fetch(types) { $0.map(Self.record) }
    }

    private static func record(_ data: OpaquePointer) -> WebsiteDataRecord {
        let flags = webkit_website_data_get_types(data).rawValue
        return WebsiteDataRecord(
            name: webkit_website_data_get_name(data).map { String(cString: $0) } ?? "",
            types: WebsiteDataType.allCases.filter { flags & $0.flag.rawValue != 0 })
    }

    /// Lists the stored data; the records are released after `body`.
    private func fetch<R: Sendable>(
        _ types: [WebsiteDataType], _ body: @escaping @MainActor ([OpaquePointer]) -> R
    ) async throws(EngineError) -> R {
        guard WebsiteDataType.flags(types).rawValue != 0 else { return body([]) }
        let manager = manager
        let result: Result<R, EngineError> = await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                let list = webkit_website_data_manager_fetch_finish(manager, outcome, &error)
                if let error { return continuation.resume(returning: .failure(EngineError(owning: error))) }
                var records: [OpaquePointer] = []
                var item = list
                while let entry = item {
                    entry.pointee.data.map { records.append(OpaquePointer($0)) }
                    item = entry.pointee.next
                }
                continuation.resume(returning: .success(body(records)))
                for record in records { webkit_website_data_unref(record) }
                g_list_free(list)
            }
            webkit_website_data_manager_fetch(
                manager, WebsiteDataType.flags(types), nil, AsyncResult.callback, data)
        }
        return try result.get()
    }

    /// Removes stored data.
    ///
    /// - Parameters:
    ///   - types: The kinds.
    ///   - names: The sites, as the engine names them; `nil` for all.
    ///   - age: Only data that was changed within this time; `nil` for all. The engine supports it only for all sites
    ///     together.
    /// - Throws: The reason why it was not removed.
    public func removeData(
        _ types: [WebsiteDataType], names: Set<String>? = nil, within age: Duration? = nil
    ) async throws(EngineError) {
        guard let names else { return try await clear(types, within: age) }
        let manager = manager
        let found: [GRecord] = try await fetch(types) { records in
            records.filter { names.contains(Self.record($0).name) }.map { GRecord($0) }
        }
        guard !found.isEmpty else { return }
        let result: Result<Void, EngineError> = await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                let isDone = webkit_website_data_manager_remove_finish(manager, outcome, &error) != 0
                continuation.resume(returning: isDone ? .success(()) : .failure(EngineError(owning: error)))
            }
            var list: UnsafeMutablePointer<GList>?
            for record in found { list = g_list_prepend(list, UnsafeMutableRawPointer(record.raw)) }
            webkit_website_data_manager_remove(
                manager, WebsiteDataType.flags(types), list, nil, AsyncResult.callback, data)
            g_list_free(list)
        }
        withExtendedLifetime(found) {}
        try result.get()
    }

    private func clear(_ types: [WebsiteDataType], within age: Duration?) async throws(EngineError) {
        guard WebsiteDataType.flags(types).rawValue != 0 else { return }
        let manager = manager
        let microseconds = GTimeSpan(age.map { $0.components.seconds * 1_000_000 } ?? 0)
        let result: Result<Void, EngineError> = await withCheckedContinuation { continuation in
            let data = AsyncResult.pointer { outcome in
                var error: UnsafeMutablePointer<GError>?
                let isDone = webkit_website_data_manager_clear_finish(manager, outcome, &error) != 0
                continuation.resume(returning: isDone ? .success(()) : .failure(EngineError(owning: error)))
            }
            webkit_website_data_manager_clear(
                manager, WebsiteDataType.flags(types), microseconds, nil, AsyncResult.callback, data)
        }
        try result.get()
    }
}

/// A reference to a record of the engine.
@MainActor
private final class GRecord {
    let raw: OpaquePointer
    init(_ raw: OpaquePointer) { self.raw = webkit_website_data_ref(raw) }
    isolated deinit { webkit_website_data_unref(raw) }
}
