// Cookies: the cookies of users, for pages, programs and containers, with the rules of browsers (HTTPRules).
//
// The steps of a call: a task (Tasks/) puts it into the queue of the store's thread (Sync/CookieLane). That thread
// takes the waiting calls, changes the jars in memory (Store/) and writes all changes in one commit. Then it sends
// events to the watching sessions and answers the calls in their order (Sync/CookieEngine). Formats/ contains the
// external forms of cookies.
//
// The folders are layers, and each uses only the ones before it: Store, Formats, Sync, Tasks.

import HTTPRules
import Synchronization
public import TaskKit

extension Plugin {
    /// Creates the plugin of `cookies.…`.
    public static func cookies() -> Plugin { cookies(CookieClocks()) }

    static func cookies(_ clocks: CookieClocks, limits: CookieSettings = CookieSettings()) -> Plugin {
        let configuration = PluginConfiguration(CookiesConfiguration())
        let service = CookieService(suffixes: SuffixHolder())
        return Plugin("cookies", version: "1.0.0") {
            SetTask(service: service)
            DeleteTask(service: service)
            GetTask(service: service)
            WatchTask(service: service)
            SeedTask(service: service)
            ImportTask(service: service)
            ExportTask(service: service)
            HeaderTask(service: service)
            ScriptTask(service: service)
            AttachTask(service: service)
            ApplyTask(service: service)
            TakeTask(service: service)
            PutTask(service: service)
        }
        .configuration(
            configuration, describing: CookiesConfiguration.settings, check: { section in try section.check() }
        )
        .launchWorker("cookies.open", phase: .beforeListening) { context in
            let settings = configuration.value.apply(to: limits)
            try await service.open(settings, clocks, context)
        }
        .onSessionEnd { service.lane.end($0.session) }
        .handover([SavedListener].self) { sessions in
            try await service.lane.run { engine in engine.saved(of: sessions) }
        } restore: { saved in
            service.lane.note(saved.keys)
            return try await service.lane.run { engine in engine.restore(saved, service.suffixes) }
        }
        .onStop { await service.lane.close() }
        .event(CookiesChanged.event, CookiesChanged.summary, isPublic: true)
    }
}

extension CookieService {
    /// Opens the store in the directory for the files of plugins.
    ///
    /// - Throws: `configuration.invalid`, `storage.full`, `storage.failed`, with a message for the operator.
    fileprivate func open(
        _ settings: CookieSettings, _ clocks: CookieClocks, _ context: PluginContext
    ) async throws {
        let path = context.stateDirectory + "/cookies.sqlite"
        let sink = DaemonSink(context, lane)
        let suffixes = try suffixes.load(settings)
        try await lane.open {
            let store = try CookieStore(path: path, settings: settings, clocks: clocks, suffixes: suffixes) {
                context.log.warning($0)
            }
            return try CookieEngine(
                store: store, suffixes: suffixes, sink: sink, metrics: CookiesMetrics(context),
                monotonic: clocks.monotonic)
        }
    }
}

/// Passes events to the daemon, and calls the store after delays.
private final class DaemonSink: CookieSink {
    /// The delay before the times of use are written.
    private static let tidying = Duration.seconds(30)

    private let context: PluginContext
    private let lane: CookieLane

    init(_ context: PluginContext, _ lane: CookieLane) { (self.context, self.lane) = (context, lane) }

    func publish(_ event: JSON, to sessions: [SessionID]) {
        context.publish(CookiesChanged.event, event, to: sessions, direct: true)
    }

    func endLingering(after delay: Duration) {
        // The clock of timers may be slightly ahead of the clock that the store compares.
        context.timer(after: delay + .milliseconds(10)) { [lane] in lane.perform { $0.endLingering() } }
    }

    func tidySoon() { context.timer(after: Self.tidying) { [lane] in lane.perform { $0.tidy() } } }
}
