import BridgeJSON

/// An interceptor of a plugin: which calls it is asked about, and what it did so far. Loop thread only.
final class Interceptor {
    let description: InterceptorDescription
    let plugin: any QueueingProvider
    /// The entry under which questions to it are counted; no client can call it.
    let entry: TaskEntry
    /// Its name as it stands in a message.
    let quotedName: [UInt8]
    /// What it did.
    var counts = InterceptorCounts()
    /// When the log last reported that it failed.
    private var warnedAt: RuntimeInstant?
    /// Whose calls it is asked about.
    private(set) var patterns: [EventPattern]

    /// - Parameter index: its index among those of its plugin.
    init(_ description: InterceptorDescription, index: Int, plugin: any QueueingProvider) {
        self.description = description
        self.plugin = plugin
        quotedName = JSON.string(description.name).bytes
        // What is no pattern was refused with the manifest.
        patterns = description.tasks.compactMap(EventPattern.init)
        entry = TaskEntry(
            TaskDescription(name: "plugin.intercept", deadline: .none, isPrivate: true), index: index, provider: plugin,
            isInternal: true, isInterceptor: true)
    }

    var name: String { description.name }
    /// By what it is known to operators.
    var reference: JSON { ["name": .string(name), "plugin": .string(plugin.name)] }
    /// What it is called in sentences.
    var label: String { "the interceptor \(name) of \(plugin.providerName)" }

    /// Whether it is this one, or of another version of the same plugin.
    func isSame(as other: Interceptor) -> Bool {
        self === other || name == other.name && plugin.name == other.plugin.name
    }

    /// It is asked about calls of other tasks from now on.
    func replace(_ patterns: [EventPattern]) { self.patterns = patterns }

    /// Whether its failing now is worth a line that operators see: one a second is, however many calls there are.
    func takesWarning(at now: RuntimeInstant) -> Bool {
        if let warnedAt, now.since(warnedAt) < .seconds(1) { return false }
        warnedAt = now
        return true
    }

    /// Whether calls of the task come to it. An operator repairs the rest with the daemon's own tasks, and a private
    /// task is for its plugin alone: no interceptor sees either.
    func matches(_ task: TaskEntry) -> Bool {
        guard !task.isInternal, !task.description.isPrivate, !task.provider.isDaemon else { return false }
        return patterns.contains { $0.matches(task.name) }
    }
}

/// What an interceptor did. Of `asked`, those are missing in the others that are being thought about, or whose call
/// ended meanwhile.
struct InterceptorCounts {
    var asked: UInt64 = 0
    var passed: UInt64 = 0
    var rewrote: UInt64 = 0
    var redirected: UInt64 = 0
    var answered: UInt64 = 0
    var refused: UInt64 = 0
    /// It failed, or could not be asked.
    var failed: UInt64 = 0

    /// All of them, by the names that protocol and metrics have for them.
    var all: KeyValuePairs<String, UInt64> {
        [
            "asked": asked, "passed": passed, "rewrote": rewrote, "redirected": redirected, "answered": answered,
            "refused": refused, "failed": failed,
        ]
    }
}
