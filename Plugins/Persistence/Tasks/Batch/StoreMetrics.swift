import TaskKit

/// The store's metrics for operators. Any thread.
struct StoreMetrics: Sendable {
    /// Calls that wait for their turn or are being executed.
    var calls = Gauge()
    /// Bytes on the disk.
    var size = Gauge()
    var records = Gauge()
    var commits = Counter()
    /// Records that were created, updated or deleted.
    var changes = Counter()
    /// The total time of all commits.
    var commitDuration = Counter()
    var lastCommitDuration = Gauge()

    /// Creates metrics that are not published.
    init() {}

    init(_ context: PluginContext) {
        calls = context.gauge("calls_queued", "Calls that wait for the store or run in it.")
        size = context.gauge("store", "The database and its log, on the disk.", unit: .bytes)
        records = context.gauge("records", "Records in all tables.")
        commits = context.counter("commits", "Commits; each may contain the changes of many calls.")
        changes = context.counter("record_changes", "Records that were created, updated or deleted.")
        commitDuration = context.counter("commit_duration", "Total time of all commits.", unit: .seconds)
        lastCommitDuration = context.gauge("last_commit_duration", "Time of the last commit.", unit: .seconds)
    }

    /// Records a commit that is on the disk.
    func note(_ tally: RecordStore.Tally, took duration: Duration, sizeBytes: Int) {
        commits.add()
        changes.add(tally.changes)
        records.add(tally.growth)
        commitDuration.add(duration)
        lastCommitDuration.set(duration)
        size.set(sizeBytes)
    }
}
