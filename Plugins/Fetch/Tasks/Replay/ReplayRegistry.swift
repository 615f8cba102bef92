import Glibc
import HTTPRules
import Synchronization
import TaskKit

/// The recordings and replays of all users, and the users who are offline. Any thread.
final class ReplayRegistry: Sendable {
    /// The maximum number of recordings of a user.
    static let maximumRecordings = 16

    /// The active recording, replay and offline state of a user.
    private struct Activity {
        var recording: Recording?
        /// The name of a recording whose folder is being created.
        var beginning: String?
        var replay: Replay?
        var isOffline = false

        var isNothing: Bool { recording == nil && beginning == nil && replay == nil && !isOffline }
        /// The name of the recording that runs or begins.
        var recordingName: String? { recording?.folder.name ?? beginning }
    }

    private struct State {
        /// `nil` if the plugin has not started.
        var folder: String?
        var activities: [UInt32: Activity] = [:]
    }

    private let state = Mutex(State())
    let threads = BlockingThreads(name: "fetch-recorder")

    func start(_ context: PluginContext) {
        state.withLock { $0.folder = context.stateDirectory + "/recordings" }
    }

    // MARK: State for requests

    /// Returns whether a user has a running recording or a replay, or is offline.
    func isActive(_ user: UInt32) -> Bool { state.withLock { $0.activities[user] != nil } }
    func isOffline(_ user: UInt32) -> Bool { state.withLock { $0.activities[user]?.isOffline ?? false } }
    func replay(of user: UInt32) -> Replay? { state.withLock { $0.activities[user]?.replay } }
    func recording(of user: UInt32) -> Recording? { state.withLock { $0.activities[user]?.recording } }

    private func change<T: Sendable>(_ user: UInt32, _ body: (inout Activity) -> T) -> T {
        state.withLock { state in
            var activity = state.activities[user] ?? Activity()
            defer { state.activities[user] = activity.isNothing ? nil : activity }
            return body(&activity)
        }
    }

    func setOffline(_ isOffline: Bool, for user: UInt32) { change(user) { $0.isOffline = isOffline } }
    func setReplay(_ replay: Replay?, for user: UInt32) { change(user) { $0.replay = replay } }

    // MARK: Recordings

    /// Begins a recording.
    ///
    /// - Throws: `options.invalid`, `busy`, `recording.exists`, `storage.full`, `storage.failed`.
    func begin(
        _ name: String, _ choice: URLChoice, replaces: Bool, of user: UInt32
    ) async throws(BridgeError) -> Recording {
        let parent = try parent(of: user)
        let folder = try RecordingFolder(name, in: parent)
        let running = change(user) { activity in
            let running = activity.recordingName
            if running == nil { activity.beginning = name }
            return running
        }
        if let running { throw Self.isRunning(running) }
        defer { change(user) { $0.beginning = nil } }
        let recording = try await run(of: user) { () throws(BridgeError) in
            if folder.exists {
                guard replaces else {
                    throw BridgeError("recording.exists", "there is a recording \(name); see the option replace")
                }
                folder.remove()
            }
            guard RecordingFolder.names(in: parent).count < Self.maximumRecordings else {
                throw BridgeError(
                    .busy, "a user may have \(Self.maximumRecordings) recordings; remove one first",
                    data: ["started": false])
            }
            for path in [Self.above(parent), parent] { mkdir(path, 0o700) }
            return try Recording(folder, choice)
        }
        change(user) { $0.recording = recording }
        return recording
    }

    /// Ends the running recording.
    ///
    /// - Throws: `recording.not_found`.
    func end(_ name: String, of user: UInt32) throws(BridgeError) -> Recording {
        guard let recording = recording(of: user), recording.folder.name == name else { throw .noRecording(name) }
        change(user) { $0.recording = nil }
        return recording
    }

    /// Returns the recordings of a user.
    func recordings(of user: UInt32) async throws(BridgeError) -> [(name: String, byteCount: Int64)] {
        let parent = try parent(of: user)
        return try await run(of: user) { () throws(BridgeError) in
            var recordings: [(name: String, byteCount: Int64)] = []
            for name in RecordingFolder.names(in: parent) {
                guard let folder = try? RecordingFolder(name, in: parent), folder.exists else { continue }
                recordings.append((name, folder.byteCount))
            }
            return recordings
        }
    }

    /// Removes a recording that is not running.
    ///
    /// - Throws: `options.invalid`, `busy`, `recording.not_found`.
    func remove(_ name: String, of user: UInt32) async throws(BridgeError) {
        let folder = try folder(name, of: user)
        guard state.withLock({ $0.activities[user]?.recordingName }) != name else { throw Self.isRunning(name) }
        try await run(of: user) { () throws(BridgeError) in
            guard folder.exists else { throw .noRecording(name) }
            folder.remove()
        }
    }

    private static func isRunning(_ name: String) -> BridgeError {
        BridgeError(.busy, "the recording \(name) is running; end it first", data: ["started": false])
    }

    func folder(_ name: String, of user: UInt32) throws(BridgeError) -> RecordingFolder {
        try RecordingFolder(name, in: try parent(of: user))
    }

    private func parent(of user: UInt32) throws(BridgeError) -> String {
        guard let folder = state.withLock({ $0.folder }) else {
            throw BridgeError(.storageFailed, "the plugin has no folder for recordings")
        }
        return "\(folder)/\(user)"
    }

    private static func above(_ path: String) -> String {
        String(path.utf8.prefix(path.utf8.count - (path.utf8.split(separator: UInt8(ascii: "/")).last?.count ?? 0) - 1))
            ?? path
    }

    /// Runs an operation on the recorder's thread.
    func run<T: Sendable>(
        of user: UInt32, _ body: @escaping @Sendable () throws(BridgeError) -> T
    ) async throws(BridgeError) -> T {
        do { return try await threads.run(of: user) { try body() } } catch let error as BridgeError {
            throw error
        } catch {
            throw .fetchCancelled
        }
    }
}
