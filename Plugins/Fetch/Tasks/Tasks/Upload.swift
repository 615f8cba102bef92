import TaskKit

/// The body of a request on its way from the options to the connection. It ends where nobody holds this any more.
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
            // Taken at once: the call may be over before the stream is.
            let reader = call.readStream(name)
            feeding = Task(executorPreference: call.plugin.executor) {
                body.finish(await Self.feed(body, reader))
            }
        }
    }

    deinit {
        body.stop()
        // A server may answer the last byte before the stream says that it was the last one.
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

    private static func mismatch(_ count: Int, _ body: RequestBody) -> BridgeError {
        .invalidOption(
            "$.body.bytes", expected: "the number of the stream's bytes",
            got: "\(body.byteCount ?? 0), and the stream has \(count > body.byteCount ?? 0 ? "more" : "fewer")")
    }
}
