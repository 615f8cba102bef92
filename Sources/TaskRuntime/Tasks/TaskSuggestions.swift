import BridgeJSON

/// Makes the errors for unknown tasks, with the name that the caller probably meant. Loop thread only.
final class TaskSuggestions {
    private let tasks: TaskRegistry
    private let rights: Rights
    private let clock: any RuntimeClock
    /// The rate of suggestions to plugins; for users see ``UserAccount/suggestions``.
    private var pluginRate = CallRate()

    init(_ tasks: TaskRegistry, _ rights: Rights, _ clock: any RuntimeClock) {
        self.tasks = tasks
        self.rights = rights
        self.clock = clock
    }

    /// The maximum length of an unknown name in an error, in Unicode scalars.
    private static let maximumNameScalars = 128

    /// Returns the error for an unknown task, with the name that the caller probably meant.
    ///
    /// - Parameter caller: The calling session; only tasks that it may call are suggested. `nil` for a plugin, which
    ///   may see all.
    func notFound(_ name: String, for caller: Session?) -> BridgeError {
        let shown = String(name.unicodeScalars.prefix(Self.maximumNameScalars))
        var question = ""
        if takeSuggestion(for: caller) {
            question = Suggestion.question(for: name, among: namesAround(name)) { isShown($0, to: caller) }
        }
        return BridgeError(
            .taskNotFound,
            "there is no task \(shown)" + (question.isEmpty ? "; bridge.tasks lists the tasks" : question))
    }

    /// The maximum rate of suggestions for each user, and for all plugins together. A search costs more than the rest
    /// of the message; a program that needs more suggestions does not read them.
    private static let suggestionPace = CallPace(CallQuota(callsPerSecond: 8))

    private func takeSuggestion(for caller: Session?) -> Bool {
        guard let pace = Self.suggestionPace else { return false }
        let now = clock.now.nanoseconds
        func take(_ rate: inout CallRate) -> Bool {
            guard rate.nanosecondsToToken(pace, now: now) == 0 else { return false }
            rate.take(pace, now: now)
            return true
        }
        return caller.map { take(&$0.account.suggestions) } ?? take(&pluginRate)
    }

    func notFound(_ name: UnsafeRawBufferPointer, for caller: Session?) -> BridgeError {
        notFound(String(decoding: name.prefix(256), as: UTF8.self), for: caller)
    }

    /// Returns all names; if there are more than a search examines, the names from the first letter of this one on.
    private func namesAround(_ name: String) -> some Sequence<String> {
        let first = tasks.count <= Suggestion.maximumNames ? "" : String(name.unicodeScalars.prefix(1))
        return tasks.after(first).prefix(Suggestion.maximumNames).lazy.map(\.name)
    }

    private func isShown(_ name: String, to caller: Session?) -> Bool {
        guard let task = tasks.find(name), !task.isInternal else { return false }
        return caller.map { rights.mayCall(task, $0) } ?? true
    }
}
