// Fetch: HTTP requests for callers, by rules that an operator sets.
//
// The way of a fetch: the task (Tasks/) reads the options and waits for a turn; the loader (Loading/) checks the URL and
// the fields, sends a request, and follows redirects one by one; a transfer (Transport/) runs on the thread of its
// user, where libcurl does HTTP and TLS and nothing else. The body is decoded there (Bodies/), and waits for its reader
// in a bounded channel.
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
