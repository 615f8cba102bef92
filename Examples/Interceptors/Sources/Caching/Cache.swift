// cache: stores results for a while, and answers equal calls with them.
import Synchronization
import TaskKit

/// Creates the plugin, for the daemon or for a test.
///
/// - Parameter now: Returns the time; a test can pass a clock of its own.
public func makeCache(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) -> Plugin {
    let memory = Memory(now: now)
    return Plugin("cache", version: "1.0.0") {
        Forget(memory: memory)
    }
    .configuration(
        PluginConfiguration(Memory.Section()), describing: Memory.Section.settings, reloadable: true,
        check: { section in try section.check() }, onChange: { section in memory.take(section) }
    )
    .onStart { context in memory.show(in: context) }
    .interceptor(Cache(memory: memory))
}

struct Cache: Interceptor {
    static let name = "cache.results"
    static let summary = "Answers equal calls from memory."
    // If the cache fails, the call continues without it.
    static let onFailure = InterceptorFailure.pass

    let memory: Memory
    var tasks: [String] { memory.tasks }

    func intercept(_ call: InterceptedCall) async throws -> Decision {
        // Not for calls that name a session or are one-way: their results may differ, or are not sent.
        guard call.session == nil, !call.isOneWay else { return .pass }
        let key = Memory.Key(call)
        if let known = memory.result(for: key) { return .answer(known) }
        let result: JSON = try await call.proceed()
        memory.keep(result, for: key)
        return .answer(result)
    }
}

struct Forget: ImmediateTask {
    static let name = "cache.forget"
    static let summary = "Removes all stored results."
    struct Result: Codable, Sendable { var forgotten: Int }

    let memory: Memory

    func run(_ options: Empty, _ call: Call) throws -> Result { Result(forgotten: memory.forget()) }
}

/// The stored results.
final class Memory: Sendable {
    /// The plugin's section of the configuration.
    struct Section: Codable, Sendable {
        /// The tasks whose results are stored; by default none.
        var tasks: [String]?
        /// The number of seconds for which a result is valid; by default 60.
        var seconds: Double?
        /// The maximum number of stored results; by default 1,000.
        var entries: Int?

        /// The descriptions of the settings, for operators.
        static let settings: [String: JSON] = [
            "tasks": [
                "description": "The tasks whose results are stored: names, or prefixes of names followed by *."
            ],
            "seconds": [
                "description": "The seconds for which a result is valid.", "default": 60, "exclusiveMinimum": 0,
            ],
            "entries": ["description": "The maximum number of stored results.", "default": 1000, "minimum": 1],
        ]

        func check() throws {
            if let entries, entries < 1 { throw Self.refusal("entries", "at least 1", "\(entries)") }
            if let seconds, !(seconds > 0) { throw Self.refusal("seconds", "more than 0", "\(seconds)") }
        }

        private static func refusal(_ key: String, _ expected: String, _ got: String) -> BridgeError {
            BridgeError(
                .configurationInvalid, "\(key) is \(got); it must be \(expected).",
                data: ["path": .string("$.\(key)"), "expected": .string(expected), "got": .string(got)])
        }
    }

    /// A call with its options and the caller's identity: a result for one user must not reach another.
    struct Key: Hashable, Sendable {
        var task: String
        var options: [UInt8]
        var uid: UInt32
        var origin: String
        var user: String?

        init(_ call: InterceptedCall) {
            (task, options) = (call.task, call.rawOptions)
            (uid, origin, user) = (call.caller.uid, call.caller.origin, call.caller.user)
        }
    }

    private struct Entry {
        var result: JSON
        var end: ContinuousClock.Instant
    }

    private struct State {
        var section = Section()
        var entries: [Key: Entry] = [:]
        var kept = Gauge()
        var hits = Counter()
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> ContinuousClock.Instant) { self.now = now }

    func take(_ new: Section) { state.withLock { $0.section = new } }

    func show(in context: PluginContext) {
        state.withLock { state in
            state.kept = context.gauge("results", "Stored results.")
            state.hits = context.counter("hits", "Calls that were answered from memory.")
        }
    }

    var tasks: [String] { state.withLock { $0.section.tasks ?? [] } }

    func result(for key: Key) -> JSON? {
        state.withLock { state in
            guard let entry = state.entries[key], entry.end > now() else { return nil }
            state.hits.add(1)
            return entry.result
        }
    }

    func keep(_ result: JSON, for key: Key) {
        state.withLock { state in
            let maximum = state.section.entries ?? 1000
            if state.entries.count >= maximum, state.entries[key] == nil {
                let time = now()
                state.entries = state.entries.filter { $0.value.end > time }
                // Still full: the result that expires first is removed.
                if state.entries.count >= maximum, let first = state.entries.min(by: { $0.value.end < $1.value.end }) {
                    state.entries[first.key] = nil
                }
            }
            state.entries[key] = Entry(result: result, end: now() + .seconds(state.section.seconds ?? 60))
            state.kept.set(state.entries.count)
        }
    }

    func forget() -> Int {
        state.withLock { state in
            defer { state.entries = [:] }
            state.kept.set(0)
            return state.entries.count
        }
    }
}
