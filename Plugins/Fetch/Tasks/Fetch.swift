// Fetch: HTTP requests for callers, by rules that an operator sets.
//
// The steps of a fetch: the task (Tasks/) reads the options and waits for a turn. The loader (Loading/) follows
// redirects; each hop passes the stages of `FetchService.way`. The last stage starts a transfer (Transport/), which
// runs on the thread of its user. libcurl does only HTTP and TLS there. The body is decoded on that thread (Bodies/)
// and waits for its reader in a bounded channel. Responses that may be stored take another path: they are written into
// the store as received, and their readers read them from there (Cache/).
//
// The folders are layers, and each uses only the ones before it: Data, Bodies, Transport, Loading, Cache, Packages,
// Replay, Files, Tasks.
public import TaskKit

extension Plugin {
    /// Creates the plugin of `http.fetch`.
    public static func fetch() -> Plugin { fetch(FetchService()) }

    static func fetch(_ service: FetchService) -> Plugin {
        Plugin("fetch", version: FetchSettings.version) {
            FetchTask(service: service)
            LoadTask(service: service)
            ParametersTask(service: service)
            CacheInfoTask(service: service)
            CacheListTask(service: service)
            CacheRemoveTask(service: service)
            InstallPackageTask(packages: service.packages)
            ListPackagesTask(packages: service.packages)
            RollBackPackageTask(packages: service.packages)
            RemovePackageTask(packages: service.packages)
            DataTypesTask(data: service.data)
            DataRecordsTask(data: service.data)
            RemoveDataTask(data: service.data)
            OfflineTask(replays: service.replays)
            RecordTask(replays: service.replays)
            ReplayTask(replays: service.replays)
            ListRecordingsTask(replays: service.replays)
            ReadRecordingTask(replays: service.replays)
            RemoveRecordingTask(replays: service.replays)
        }
        .configuration(
            PluginConfiguration(FetchConfiguration()), describing: FetchConfiguration.settings, reloadable: true,
            check: { _ = try FetchSettings($0) }, onChange: { service.configure($0) }
        )
        .onStart { await service.start($0) }
        .launchWorker("fetch.open", phase: .beforeListening) { await service.open($0) }
        .onStop { await service.stop() }
    }
}
