/// The reason why a page did not load.
public enum LoadProblem: Error, Sendable, Hashable {
    /// A rule forbids the address, or one to which a server sent it.
    case denied(uri: String, rule: String)
    /// The page could not be loaded.
    case failed(uri: String, message: String)
    /// The offline package cannot be shown.
    case package(PackageProblem, uri: String, message: String)
    /// Another load replaced it.
    case cancelled
    /// The web process has ended, or the page was closed.
    case gone
}

extension LoadProblem: CustomStringConvertible {
    /// The problem, for a person who knows the address.
    public var description: String {
        switch self {
        case .denied(let uri, let rule): "\(uri) is not shown: the rule \(rule) forbids it"
        case .failed(_, let message), .package(_, _, let message): message
        case .cancelled: "another load took its place"
        case .gone: "the page's process has ended, or the page was closed"
        }
    }
}

/// The callers that wait for a load.
@MainActor
struct LoadWaiters {
    /// The step of a load that a caller waits for.
    enum Goal {
        case committed, finished
        /// The error page of an earlier load has arrived, so that the load can begin.
        case errorPage
    }

    typealias Continuation = CheckedContinuation<LoadProblem?, Never>
    /// The number of times that waiting was ended with a problem.
    private(set) var ends = 0
    private var waiting: [(goal: Goal, continuation: Continuation)] = []

    mutating func add(_ goal: Goal, _ continuation: Continuation) { waiting.append((goal, continuation)) }

    /// Continues after the error page has arrived.
    mutating func errorPageLoaded() { resume(nil) { $0 == .errorPage } }

    /// Continues after the document has arrived.
    mutating func committed() { resume(nil) { $0 == .committed } }

    /// Continues after the document has loaded completely.
    mutating func finished() { resume(nil) { _ in true } }

    /// Ends all waits with a problem.
    mutating func end(_ problem: LoadProblem) {
        ends += 1
        resume(problem) { _ in true }
    }

    private mutating func resume(_ problem: LoadProblem?, where isMet: (Goal) -> Bool) {
        let met = waiting.filter { isMet($0.goal) }
        waiting.removeAll { isMet($0.goal) }
        for waiter in met { waiter.continuation.resume(returning: problem) }
    }
}
