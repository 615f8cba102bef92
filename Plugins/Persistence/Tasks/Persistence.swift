// Persistence: records (JSON objects) in named tables, in SQLite, a namespace for each user and origin.
//
// The path of a call: on the loop thread a task (Calls/) appends it to a lane's queue (Batch/StoreQueue), or behind the
// calls of its session that it must not overtake (Batch/CallQueues). The lane's thread takes the calls that have
// arrived together. The lane of commits plans batches (Batch/BatchPlanner) and executes them, all writes of a batch in
// one commit (Batch/StoreEngine). The lanes of reads (Batch/ReadEngine) and of queries (Batch/QueryEngine) read
// snapshots and wait for no commit. Each lane has its own connections to the database (Store/, Query/). The answers of
// a batch return to the loop together, and committed changes are sent to watchers (Watch/).
//
// Backups, restores, exports and imports (Copies/) use files beside the database, which are sent and received as
// streams.
//
// The folders are layers, each of which uses only earlier ones: Store, Query, Watch, Batch, Copies, Calls.

public import TaskKit

extension Plugin {
    /// Creates the persistence plugin.
    public static func persistence() -> Plugin {
        let configuration = PluginConfiguration(PersistenceConfiguration())
        let daemon = DaemonSink()
        let threads = StoreLane.allCases.map(\.threads)
        let store = StoreQueue(sink: daemon, gather: { daemon.atTurnEnd($0) }) { threads[$0.rawValue].submit($1) }
        let copies = StoreCopies(store: store)
        return Plugin("persistence", version: "1.0.0") {
            CreateTask(store: store)
            ReadTask(store: store)
            UpdateTask(store: store)
            DeleteTask(store: store)
            QueryTask(store: store)
            WatchTask(store: store)
            TransactionTask(store: store)
            BackupTask(copies: copies)
            RestoreTask(copies: copies)
            ExportTask(copies: copies)
            ImportTask(copies: copies)
        }
        .configuration(
            configuration, describing: PersistenceConfiguration.settings, check: { section in try section.check() }
        )
        .onStart { daemon.attach($0) }
        .launchWorker("persistence.migrate", phase: .beforeListening) { context in
            let section = configuration.value
            let name = section.file ?? PersistenceConfiguration.defaultFile
            let file = StoreFile(path: "\(context.stateDirectory)/\(name)")
            try await context.blocking { StoreSwap.removeLeftovers(of: file) }
            let check = Interruption()
            let watchdog = Task {
                try await Task.sleep(for: Limits.checkTimeout)
                check.fire()
            }
            defer { watchdog.cancel() }
            try await store.open(
                StoreEngine.Settings(
                    file: file,
                    maximumDeletions: section.tombstones ?? PersistenceConfiguration.defaultTombstones,
                    quota: section.quota,
                    log: { context.log.warning($0) }, metrics: StoreMetrics(context)),
                check: check)
            copies.open(file)
        }
        .onSessionEnd { caller in
            store.sessionClosed(caller.session, user: caller.uid)
            copies.sessionClosed(caller.session)
        }
        .handover([SavedWatch].self) {
            try await store.keepWatches(of: $0)
        } restore: {
            try await store.restoreWatches($0)
        }
        .onStop {
            await copies.close()
            await store.close()
        }
        .event(RecordChanged.event, "A record of a watched table was created, updated or deleted.", isPublic: true)
        .event(CursorExpired.event, "A watched table was replaced as a whole: it has to be read again.", isPublic: true)
    }
}
