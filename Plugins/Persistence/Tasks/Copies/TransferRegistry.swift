import Synchronization
import TaskKit

/// The files that travel at present. Each ends with the session that it is for at the latest: a stream that nobody
/// reads would last longer.
///
/// Any thread; nothing here waits for the disk.
final class TransferRegistry: Sendable {
    private struct State {
        var files: [UInt64: TransferFile] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    /// What the names of such files have behind that of the database.
    static let suffix = ".transfer-"

    /// A new one, which is not made yet. To be called before a call's first suspension: from here on the end of the
    /// session ends it.
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

    /// Takes out those of a session, or all of them.
    func takeAll(of session: SessionID? = nil) -> [TransferFile] {
        state.withLock { state in
            let taken = state.files.values.filter { session == nil || $0.session == session }
            for file in taken { state.files[file.id] = nil }
            return taken
        }
    }
}
