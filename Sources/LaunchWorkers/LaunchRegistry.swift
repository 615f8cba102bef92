// LaunchWorkers: startup work with names, in phases and in order, timed; of the daemon and of the container of pages.

/// Startup work, kept out of `main`: code that needs something done at launch registers a worker, and the registry runs
/// all of them, phase by phase, each timed and its failure reported by name. Afterwards it is empty.
///
/// While they run, workers may register others for later phases, as loading the plugins does.
/// Not thread-safe; stays where it was made.
public final class LaunchRegistry<Phase: LaunchPhases> {
    private var workers: [LaunchWorker<Phase>] = []
    private var finished: Set<String> = []
    /// The phases that have begun.
    private var begun: Set<Phase> = []
    private let now: () -> Duration
    /// What became of the workers so far, in the order in which they ran.
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

    /// Runs all workers and forgets them.
    ///
    /// - Parameter report: called for each worker as it ends.
    /// - Throws: ``LaunchFailure`` where the order is impossible, or where a required worker failed; the workers behind
    ///   it have not run then.
    public nonisolated(nonsending) func run(
        report: (LaunchReport) -> Void = { _ in }
    ) async throws(LaunchFailure) {
        defer { workers = [] }
        for phase in Phase.allCases {
            begun.insert(phase)
            let due = try LaunchOrder.sort(workers.filter { $0.phase == phase }, done: finished)
            workers.removeAll { $0.phase == phase }
            for worker in due { try await run(worker, report) }
        }
    }

    /// Runs workers of one phase after the launch: of a plugin that came later. The reports of workers of the same
    /// names give way to theirs.
    ///
    /// - Throws: as ``run(report:)``.
    public nonisolated(nonsending) func runLate(
        _ late: [LaunchWorker<Phase>]
    ) async throws(LaunchFailure) {
        let names = Set(late.map(\.name))
        reports.removeAll { names.contains($0.name) }
        for worker in try LaunchOrder.sort(late, done: finished) { try await run(worker) { _ in } }
    }

    private nonisolated(nonsending) func run(
        _ worker: LaunchWorker<Phase>, _ report: (LaunchReport) -> Void
    ) async throws(LaunchFailure) {
        let start = now()
        var failure: String?
        do { try await worker.body() } catch { failure = "\(error)" }
        let outcome = LaunchReport(
            name: worker.name, phase: worker.phase.rawValue, duration: now() - start, failure: failure,
            isRequired: worker.isRequired)
        finished.insert(worker.name)
        reports.append(outcome)
        report(outcome)
        if let failure, worker.isRequired {
            throw LaunchFailure(
                worker: worker.name, description: "the required launch worker \(worker.name) failed: \(failure)")
        }
    }
}
