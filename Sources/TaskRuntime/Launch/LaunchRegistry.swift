/// Startup work, kept out of `main`: code that needs something done at launch registers a worker, and the registry runs
/// all of them, phase by phase, each timed and its failure reported by name. Afterwards it is empty.
///
/// While they run, workers may register others for later phases, as loading the plugins does.
/// Not thread-safe; lives with the runtime.
public final class LaunchRegistry {
    private var workers: [LaunchWorker] = []
    private var finished: Set<String> = []
    private var running: LaunchPhase?
    private let now: () -> RuntimeInstant
    /// What became of the workers so far, in the order in which they ran.
    public private(set) var reports: [LaunchReport] = []

    /// - Parameter now: the clock by which workers are timed.
    public init(now: @escaping () -> RuntimeInstant) { self.now = now }

    /// How many workers have yet to run.
    public var count: Int { workers.count }

    /// Enters a worker.
    ///
    /// - Throws: ``LaunchFailure`` where its name is taken, or where its phase has begun.
    public func register(_ worker: LaunchWorker) throws(LaunchFailure) {
        guard !finished.contains(worker.name), !workers.contains(where: { $0.name == worker.name }) else {
            throw LaunchFailure(
                worker: worker.name, description: "there are two launch workers named \(worker.name)")
        }
        if let running, worker.phase <= running {
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
        _ options: LaunchOptions, report: (LaunchReport) -> Void = { _ in }
    ) async throws(LaunchFailure) {
        defer { workers = [] }
        for phase in LaunchPhase.allCases {
            running = phase
            let due = try LaunchOrder.sort(workers.filter { $0.phase == phase }, done: finished)
            workers.removeAll { $0.phase == phase }
            for worker in due { try await run(worker, options, report) }
        }
    }

    /// Runs workers of one phase after the launch: of a plugin that came later. The reports of workers of the same
    /// names give way to theirs.
    ///
    /// - Throws: as ``run(_:report:)``.
    public nonisolated(nonsending) func runLate(
        _ late: [LaunchWorker], _ options: LaunchOptions
    ) async throws(LaunchFailure) {
        let names = Set(late.map(\.name))
        reports.removeAll { names.contains($0.name) }
        for worker in try LaunchOrder.sort(late, done: finished) { try await run(worker, options) { _ in } }
    }

    private nonisolated(nonsending) func run(
        _ worker: LaunchWorker, _ options: LaunchOptions, _ report: (LaunchReport) -> Void
    ) async throws(LaunchFailure) {
        let start = now()
        var failure: String?
        do { try await worker.body(options) } catch { failure = "\(error)" }
        let outcome = LaunchReport(
            name: worker.name, phase: worker.phase, duration: now().since(start), failure: failure,
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
