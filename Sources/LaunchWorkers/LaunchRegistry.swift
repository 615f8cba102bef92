// LaunchWorkers: startup work with names, in phases and in order, timed; of the daemon and of the container of pages.

/// Startup work, kept out of `main`: code that needs something done at launch registers a worker, and the registry runs
/// all of them, phase by phase, each timed and its failure reported by name. Afterwards it is empty.
///
/// Workers of a phase that do not wait for each other run beside each other: most of them wait for a disk or for
/// another process. While they run, workers may register others for later phases, as loading the plugins does.
/// Not thread-safe; stays where it was made.
public final class LaunchRegistry<Phase: LaunchPhases> {
    private var workers: [LaunchWorker<Phase>] = []
    private var finished: Set<String> = []
    /// The phases that have begun.
    private var begun: Set<Phase> = []
    private let now: () -> Duration
    /// Whether a required worker has failed in the run that is at work.
    private var hasFailed = false
    /// What became of the workers so far, in the order of the phases, and in a phase of the workers.
    public private(set) var reports: [LaunchReport] = []

    /// - Parameter now: the clock by which workers are timed: the time since a point that stays the same.
    public init(now: @escaping () -> Duration) { self.now = now }

    /// How many workers have yet to run.
    public var count: Int { workers.count }

    /// Enters a worker.
    ///
    /// - Throws: ``LaunchFailure`` where its name is taken, or where its phase has begun.
    public func register(_ worker: LaunchWorker<Phase>) throws(LaunchFailure) {
        guard !finished.contains(worker.name), !workers.contains(where: { $0.name == worker.name }) else {
            throw LaunchFailure(
                worker: worker.name, description: "there are two launch workers named \(worker.name)")
        }
        if begun.contains(worker.phase) {
            throw LaunchFailure(
                worker: worker.name,
                description: "the launch worker \(worker.name) comes too late for the phase \(worker.phase.rawValue)")
        }
        workers.append(worker)
    }

    /// Runs all workers and forgets them. Those of a phase run beside each other, except that a worker begins after
    /// those that it names, and after those of its owner that stand before it.
    ///
    /// - Parameters:
    ///   - isolation: Where the workers run: where the caller does.
    ///   - report: Called for each worker that has run, in their order.
    /// - Throws: ``LaunchFailure`` where the order is impossible, or where a required worker failed. No worker begins
    ///   after that, and those that have begun have ended.
    public func run(
        isolation: isolated any Actor = #isolation, report: (LaunchReport) -> Void = { _ in }
    ) async throws(LaunchFailure) {
        defer { workers = [] }
        for phase in Phase.allCases {
            begun.insert(phase)
            let due = try LaunchOrder.sort(workers.filter { $0.phase == phase }, done: finished)
            workers.removeAll { $0.phase == phase }
            try await runSorted(due, isolation: isolation, report)
        }
    }

    /// Runs workers of one phase after the launch: of a plugin that came later. The reports of workers of the same
    /// names give way to theirs.
    ///
    /// - Throws: as ``run(isolation:report:)``.
    public func runLate(
        _ late: [LaunchWorker<Phase>], isolation: isolated any Actor = #isolation
    ) async throws(LaunchFailure) {
        let names = Set(late.map(\.name))
        reports.removeAll { names.contains($0.name) }
        try await runSorted(try LaunchOrder.sort(late, done: finished), isolation: isolation) { _ in }
    }

    private func runSorted(
        _ due: [LaunchWorker<Phase>], isolation: isolated any Actor, _ report: (LaunchReport) -> Void
    ) async throws(LaunchFailure) {
        hasFailed = false
        var failure: LaunchFailure?
        for run in begin(due, isolation: isolation) {
            guard let outcome = await run.value else { continue }
            finished.insert(outcome.name)
            reports.append(outcome)
            report(outcome)
            if failure == nil { failure = LaunchFailure(outcome) }
        }
        if let failure { throw failure }
    }

    /// Has each worker begin as soon as it may.
    ///
    /// - Parameter due: Sorted.
    /// - Returns: The Swift task of each, with its report; nil: it has not run.
    private func begin(
        _ due: [LaunchWorker<Phase>], isolation: isolated any Actor
    ) -> [Task<LaunchReport?, Never>] {
        var runs: [(name: String, owner: Substring, run: Task<LaunchReport?, Never>)] = []
        for worker in due {
            let before = runs.filter { worker.after.contains($0.name) || $0.owner == worker.owner }.map(\.run)
            let run = Task {
                for other in before { _ = await other.value }
                return await self.perform(worker, isolation: isolation)
            }
            runs.append((worker.name, worker.owner, run))
        }
        return runs.map(\.run)
    }

    /// - Returns: nil: a required worker has failed before.
    private func perform(_ worker: LaunchWorker<Phase>, isolation: isolated any Actor) async -> LaunchReport? {
        guard !hasFailed else { return nil }
        let start = now()
        var failure: String?
        do { try await worker.body() } catch { failure = "\(error)" }
        if failure != nil, worker.isRequired { hasFailed = true }
        return LaunchReport(
            name: worker.name, phase: worker.phase.rawValue, duration: now() - start, failure: failure,
            isRequired: worker.isRequired)
    }
}

extension LaunchFailure {
    /// Nil: the program can go on.
    fileprivate init?(_ report: LaunchReport) {
        guard let failure = report.failure, report.isRequired else { return nil }
        self.init(
            worker: report.name, description: "the required launch worker \(report.name) failed: \(failure)")
    }
}
