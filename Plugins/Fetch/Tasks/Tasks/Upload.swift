import TaskKit

/// Feeds the body of a request from the options to the connection. The upload ends when the last reference to this is
/// released.
final class Upload: Sendable {
    let body: RequestBody
    private let feeding: Task<Void, Never>?

    init(_ source: FetchBody, _ call: Call) {
        switch source {
        case .bytes(let bytes, let type):
            body = RequestBody(bytes, type: type)
            feeding = nil
        case .stream(let name, let byteCount, let type):
            let body = RequestBody(type: type, byteCount: byteCount)
            self.body = body
            // The stream is taken immediately, because the call may end before the stream does.
            let reader = call.readStream(name)
            feeding = Task(executorPreference: call.plugin.executor) {
                body.finish(await Self.feed(body, reader))
            }
        }
    }

    /// Creates an upload of a file.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - type: The media type; `nil` if none is specified.
    ///   - threads: The threads that wait for the disk.
    init(_ file: SentFile, type: String?, _ threads: BlockingThreads, _ call: Call) {
        let body = RequestBody(type: type, byteCount: file.byteCount)
        self.body = body
        let user = call.caller.uid
        feeding = Task(executorPreference: call.plugin.executor) {
            body.finish(await Self.feed(body, file, threads, of: user))
        }
    }

    deinit {
        body.stop()
        // A server may answer the last byte before the stream reports its end.
        if !body.isWhole { feeding?.cancel() }
    }

    private static func feed(_ body: RequestBody, _ reader: ByteReader) async -> Result<Void, BridgeError> {
        do throws(BridgeError) {
            var count = 0
            var iterator = reader.makeAsyncIterator()
            while let bytes = try await iterator.next(isolation: nil) {
                count += bytes.count
                guard count <= body.byteCount ?? .max else { throw mismatch(count, body) }
                try await body.append(bytes)
            }
            guard body.byteCount.map({ $0 == count }) ?? true else { throw mismatch(count, body) }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private static func feed(
        _ body: RequestBody, _ file: SentFile, _ threads: BlockingThreads, of user: UInt32
    ) async -> Result<Void, BridgeError> {
        do throws(BridgeError) {
            var position = 0
            while true {
                let start = position
                let bytes = try await threads.fetchJob(of: user) { () throws(BridgeError) in try file.read(at: start) }
                guard !bytes.isEmpty else { return .success(()) }
                try await body.append(bytes)
                position += bytes.count
            }
        } catch {
            return .failure(error)
        }
    }

    private static func mismatch(_ count: Int, _ body: RequestBody) -> BridgeError {
        .invalidOption(
            "$.body.bytes", expected: "the number of the stream's bytes",
            got: "\(body.byteCount ?? 0), and the stream has \(count > body.byteCount ?? 0 ? "more" : "fewer")")
    }
}
