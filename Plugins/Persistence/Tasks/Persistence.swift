// Persistence: records (JSON objects) in named tables, in SQLite, a namespace for each user and origin.
//
// The way of a call: a task (Tasks/) puts it into the lane's queue on the loop thread (Batch/CommitLane). The lane's
// thread takes what has come together, plans batches of it (Batch/BatchPlanner) and carries them out, all writes of a
// batch in one commit (Batch/StoreEngine), on the open database (Store/, Query/). What was committed is answered, and
// told to those who watch (Watch/).

import Synchronization
public import TaskKit

extension Plugin {
    /// The persistence plugin.
    public static func persistence() -> Plugin {
        let configuration = Mutex(PersistenceConfiguration())
        let daemon = DaemonSink()
        let thread = BlockingLane(name: "persistence")
        let lane = CommitLane(sink: daemon) { thread.submit($0) }
        return Plugin("persistence", version: "1.0.0") {
            CreateTask(lane: lane)
            ReadTask(lane: lane)
            UpdateTask(lane: lane)
            DeleteTask(lane: lane)
            QueryTask(lane: lane)
            WatchTask(lane: lane)
            TransactionTask(lane: lane)
        }
        .configuration(PersistenceConfiguration.self) { section in
            try section.check()
            configuration.withLock { $0 = section }
        }
        .onStart { daemon.attach($0) }
        .launchWorker("persistence.migrate", phase: .beforeListening) { context in
            let section = configuration.withLock { $0 }
            let file = section.file ?? PersistenceConfiguration.defaultFile
            try await lane.open(
                StoreEngine.Settings(
                    file: StoreFile(path: "\(context.stateDirectory)/\(file)"),
                    maximumDeletions: section.tombstones ?? PersistenceConfiguration.defaultTombstones,
                    log: { context.log.warning($0) }))
        }
        .onSession { change, caller in
            if change == .closed { lane.sessionClosed(caller.session) }
        }
        .onStop { await lane.close() }
        .event(RecordChanged.event, "A record of a watched table was created, updated or deleted.")
    }
}

/// Sends events by way of the daemon.
private final class DaemonSink: ChangeSink {
    private let context = Mutex<PluginContext?>(nil)

    func attach(_ context: PluginContext) { self.context.withLock { $0 = context } }

    func tell(_ change: RecordChanged, to sessions: [SessionID]) {
        context.withLock { $0 }?.emit(RecordChanged.event, change, to: sessions, unasked: true)
    }

    func whenTaken(_ body: @escaping @Sendable () -> Void) {
        guard let context = context.withLock({ $0 }) else { return }
        // The loop thread runs this after the events that were handed to it before.
        Task(executorPreference: context.executor) { body() }
    }
}
