// Fetch: HTTP requests for callers, by rules that an operator sets.
//
// The way of a fetch: the task (Tasks/) reads the options and waits for a turn. The loader (Loading/) follows redirects;
// each hop passes the stages of `FetchService.way`. The last stage starts a transfer (Transport/), which runs on the
// thread of its user. libcurl does HTTP and TLS there and nothing else. The body is decoded on that thread (Bodies/) and
// waits for its reader in a bounded channel.
//
// The folders lie in an order, each above those that it uses: Bodies, Transport, Loading, Tasks.
public import TaskKit

extension Plugin {
    /// The plugin of `http.fetch`.
    public static func fetch() -> Plugin {
        let service = FetchService()
        return Plugin("fetch", version: "1.0.0") { FetchTask(service: service) }
            .configuration(
                PluginConfiguration(FetchConfiguration()), describing: FetchConfiguration.settings, reloadable: true,
                check: { _ = try FetchSettings($0) }, onChange: { service.configure($0) }
            )
            .onStart { service.start($0) }
            .onStop { await service.stop() }
    }
}
