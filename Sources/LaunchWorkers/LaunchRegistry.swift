// LaunchWorkers: named startup work in phases, ordered and timed. Used by the daemon and by the page container.

/// A registry of startup work, kept out of `main`. Code with work to do at launch registers a worker. The registry runs
/// all workers phase by phase, times each of them and reports failures by name. Afterwards it is empty.
///
/// Workers of a phase that do not wait for each other run concurrently, because most of them wait for a disk or for
/// another process. A running worker may register workers for later phases; the worker that loads the plugins does so.
/// Not thread-safe; stays in the isolation that created it.
public final class LaunchRegistry<Phase: LaunchPhases> {
    private var workers: [LaunchWorker<Phase>] = []
    private var finished: Set<String> = []
    /// The phases that have begun.
    private var begun: Set<Phase> = []
    private let now: () -> Duration
    /// Whether a required worker has failed in the current run.
    private var hasFailed = false
    /// The reports of all workers so far, in the order of phases, and within a phase in the order of workers.
    public private(set) var reports: [LaunchReport] = []

    /// - Parameter now: The clock that times the workers: returns the time since a fixed point.
    public init(now: @escaping () -> Duration) { self.now = now }

    /// The number of workers that have not run.
    public var count: Int { workers.count }

    /// Registers a worker.
    ///
    /// - Throws: ``LaunchFailure`` if its name is taken or its phase has begun.
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

    /// Runs all workers and removes them. Workers of a phase run concurrently, except that a worker begins after the
    /// workers that it names and after the workers of its owner that precede it.
    ///
    /// - Parameters:
    ///   - isolation: The isolation in which the workers run: the caller's.
    ///   - report: Called for each worker that has run, in their order.
    /// - Throws: ``LaunchFailure`` if the order is impossible or a required worker has failed. No worker begins after
    ///   such a failure, and all workers that have begun have ended when this throws.
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

    /// Runs workers of one phase after the launch, for a plugin that was loaded later. Their reports replace earlier
    /// reports of the same names.
    ///
    /// - Throws: As ``run(isolation:report:)``.
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

    /// Starts each worker as soon as the workers before it have ended.
    ///
    /// - Parameter due: The workers, sorted.
    /// - Returns: One Swift task for each worker, with its report; `nil` if it has not run.
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

    /// Runs a worker.
    ///
    /// - Returns: The report; `nil` if a required worker has failed before.
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
    /// `nil` if the program can continue.
    fileprivate init?(_ report: LaunchReport) {
        guard let failure = report.failure, report.isRequired else { return nil }
        self.init(
            worker: report.name, description: "the required launch worker \(report.name) failed: \(failure)")
    }
}
