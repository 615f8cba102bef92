import Synchronization
import TaskKit

/// The files of the current transfers. Each ends at the latest with its session: a stream without a reader would last
/// longer.
///
/// Any thread. No method waits for the disk.
final class TransferRegistry: Sendable {
    private struct State {
        var files: [UInt64: TransferFile] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The suffix of such files after the name of the database.
    static let suffix = ".transfer-"

    /// Registers a new file, which is not created yet. Must be called before a call's first suspension: from now on the
    /// end of the session ends the file.
    ///
    /// - Throws: `busy`.
    func begin(for session: SessionID, beside file: StoreFile) throws(BridgeError) -> TransferFile {
        try state.withLock { state throws(BridgeError) in
            guard state.files.count < Limits.transfers else { throw BridgeError.tooManyTransfers }
            state.lastID += 1
            let path = "\(file.path)\(Self.suffix)\(state.lastID)"
            let transfer = TransferFile(id: state.lastID, session: session, path: path)
            state.files[state.lastID] = transfer
            return transfer
        }
    }

    func remove(_ file: TransferFile) { _ = state.withLock { $0.files.removeValue(forKey: file.id) } }

    /// Removes and returns the files of a session; `nil` for the files of all sessions.
    func takeAll(of session: SessionID? = nil) -> [TransferFile] {
        state.withLock { state in
            let taken = state.files.values.filter { session == nil || $0.session == session }
            for file in taken { state.files[file.id] = nil }
            return taken
        }
    }
}
