import TaskKit

/// Writes a body into a file. One Swift task.
final class BodySaving: Sendable {
    private let file: SavedFile
    private let threads: BlockingThreads
    private let user: UInt32

    /// Creates the writer of a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - threads: The threads that wait for the disk.
    ///   - user: The user whose turn on these threads is used.
    init(_ file: SavedFile, _ threads: BlockingThreads, of user: UInt32) {
        (self.file, self.threads, self.user) = (file, threads, user)
    }

    deinit {
        let file = file
        threads.submit(of: user) { file.discard() }
    }

    /// Writes all of a body.
    ///
    /// - Returns: The member `file` of the result's body, and the summary of the transfer.
    /// - Throws: The error of the body or of the file. The file does not exist then.
    func save(_ reading: BodyReading) async throws(BridgeError) -> (file: JSON, summary: TransferSummary) {
        let file = file
        do throws(BridgeError) {
            while true {
                let next = try await reading.next()
                if let bytes = next.bytes {
                    try await threads.fetchJob(of: user) { () throws(BridgeError) in try file.write(bytes) }
                } else if let summary = next.summary {
                    let saved = try await threads.fetchJob(of: user) { () throws(BridgeError) in try file.finish() }
                    return (saved, summary)
                }
            }
        } catch {
            reading.cancel()
            throw error
        }
    }
}

extension BlockingThreads {
    /// Runs one job for a fetch.
    ///
    /// - Throws: The error of the job; `call.cancelled` if the Swift task was cancelled before.
    func fetchJob<T: Sendable>(
        of user: UInt32, _ body: @escaping @Sendable () throws(BridgeError) -> T
    ) async throws(BridgeError) -> T {
        do { return try await run(of: user, body) } catch let error as BridgeError { throw error } catch {
            throw .fetchCancelled
        }
    }
}
