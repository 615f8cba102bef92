import BridgeJSON

/// An interceptor of a plugin: which calls it is asked about, and its counters. Loop thread only.
final class Interceptor {
    let description: InterceptorDescription
    let plugin: any QueueingProvider
    /// The entry under which questions to it are counted. No client can call it.
    let entry: TaskEntry
    /// Its name as it is written in a message.
    let quotedName: [UInt8]
    /// The counts of its decisions.
    var counts = InterceptorCounts()
    /// The moment when the log last reported a failure.
    private var warnedAt: RuntimeInstant?
    /// The patterns of the tasks about whose calls it is asked.
    private(set) var patterns: [EventPattern]

    /// - Parameter index: Its index in its plugin.
    init(_ description: InterceptorDescription, index: Int, plugin: any QueueingProvider) {
        self.description = description
        self.plugin = plugin
        quotedName = JSON.string(description.name).bytes
        // Invalid patterns were refused with the manifest.
        patterns = description.tasks.compactMap(EventPattern.init)
        entry = TaskEntry(
            TaskDescription(name: "plugin.intercept", deadline: .none, isPrivate: true), index: index, provider: plugin,
            isInternal: true, isInterceptor: true)
    }

    var name: String { description.name }
    /// Its name and plugin, as operators see them.
    var reference: JSON { ["name": .string(name), "plugin": .string(plugin.name)] }
    /// Its name in messages.
    var label: String { "the interceptor \(name) of \(plugin.providerName)" }

    /// Whether the other is the same interceptor, also in another version of the same plugin.
    func isSame(as other: Interceptor) -> Bool {
        self === other || name == other.name && plugin.name == other.plugin.name
    }

    /// Replaces the patterns of the tasks about whose calls it is asked.
    func replace(_ patterns: [EventPattern]) { self.patterns = patterns }

    /// Whether a failure now is logged as a warning: at most one per second is, however many calls there are.
    func takesWarning(at now: RuntimeInstant) -> Bool {
        if let warnedAt, now.since(warnedAt) < .seconds(1) { return false }
        warnedAt = now
        return true
    }

    /// Whether it is asked about calls of the task. The daemon's own tasks are excluded, because operators use them for
    /// repairs, and so are private tasks, whose options only their plugin may see.
    func matches(_ task: TaskEntry) -> Bool {
        guard !task.isInternal, !task.description.isPrivate, !task.provider.isDaemon else { return false }
        return patterns.contains { $0.matches(task.name) }
    }
}

/// The counts of an interceptor's decisions. Questions that are undecided, or whose call ended meanwhile, are only in
/// `asked`.
struct InterceptorCounts {
    var asked: UInt64 = 0
    var passed: UInt64 = 0
    var rewrote: UInt64 = 0
    var redirected: UInt64 = 0
    var answered: UInt64 = 0
    var refused: UInt64 = 0
    /// The interceptor failed, or could not be asked.
    var failed: UInt64 = 0

    /// All counts, by their names in the protocol and in metrics.
    var all: KeyValuePairs<String, UInt64> {
        [
            "asked": asked, "passed": passed, "rewrote": rewrote, "redirected": redirected, "answered": answered,
            "refused": refused, "failed": failed,
        ]
    }
}
