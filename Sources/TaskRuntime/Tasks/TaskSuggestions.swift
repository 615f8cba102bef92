import BridgeJSON

/// What is said of a task that is not there, with the name that the caller probably meant. Loop thread only.
final class TaskSuggestions {
    private let tasks: TaskRegistry
    private let rights: Rights
    private let clock: any RuntimeClock
    /// Names that were suggested of late to plugins: ``UserAccount/suggestions``.
    private var pluginRate = CallRate()

    init(_ tasks: TaskRegistry, _ rights: Rights, _ clock: any RuntimeClock) {
        self.tasks = tasks
        self.rights = rights
        self.clock = clock
    }

    /// The maximum length of an unknown name in an error, in Unicode scalars.
    private static let maximumNameScalars = 128

    /// The error for a task that is not there, with the name that the caller probably meant.
    ///
    /// - Parameter caller: only names of tasks that they may call are suggested; nil: a plugin, which may see all.
    func notFound(_ name: String, for caller: Session?) -> BridgeError {
        let shown = String(name.unicodeScalars.prefix(Self.maximumNameScalars))
        var question = ""
        if takeSuggestion(for: caller) {
            question = Suggestion.question(for: name, among: namesAround(name)) { isShown($0, to: caller) }
        }
        return BridgeError(
            .taskNotFound,
            "there is no task \(shown)" + (question.isEmpty ? "; bridge.tasks lists those that there are" : question))
    }

    /// A search costs more than the rest of the message that leads to it: each user gets a few in a second, and so do
    /// all plugins together. What is beyond them is a program that does not read them.
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

    /// All names, or where there are more than a search looks at, those from its first letter on.
    private func namesAround(_ name: String) -> some Sequence<String> {
        let first = tasks.count <= Suggestion.maximumNames ? "" : String(name.unicodeScalars.prefix(1))
        return tasks.behind(first).prefix(Suggestion.maximumNames).lazy.map(\.name)
    }

    private func isShown(_ name: String, to caller: Session?) -> Bool {
        guard let task = tasks.find(name), !task.isInternal else { return false }
        return caller.map { rights.mayCall(task, $0) } ?? true
    }
}
