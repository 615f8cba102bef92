// Streams of bytes of any length between a plugin and its callers: docs/streams.md.

extension Call {
    /// Returns a reader of a stream in this call's options. It takes the stream's end immediately; the bytes may be
    /// read after the call has ended. A member of the options with the type `ByteReader` is such a reader.
    ///
    /// - Parameter name: The stream's name.
    public func readStream(_ name: String) -> ByteReader {
        ByteReader(name, StreamReading(StreamEnd(name, .read, sender)))
    }

    /// Makes a stream for this call; `write` writes its bytes. The caller reads the stream before or after the result,
    /// which contains the stream as a member. The stream ends if the call fails.
    ///
    ///     struct Picture: Codable, Sendable { var picture: ByteStream }
    ///
    ///     return Picture(picture: try await call.makeStream(type: "image/png") { out in
    ///         for try await bytes in options.photo { try await out.write(turned(bytes)) }
    ///     })
    ///
    /// - Parameters:
    ///   - type: A media type for the reader; at most 256 bytes.
    ///   - totalBytes: The total number of bytes, for the reader.
    ///   - write: Writes the bytes, on the plugin's executor. The stream is complete when it returns; if it throws, the
    ///     stream ends with an error. It is not cancelled with the call.
    /// - Returns: The stream. It is written even if no code holds a reference to it.
    /// - Throws: `quota.exceeded` or `busy` if the caller has too many streams; `call.cancelled`.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil,
        _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> ByteStream {
        let stream = try await sender.makeStream(type, totalBytes)
        sender.write(stream) { try await stream.write(write) }
        return stream
    }

    /// Makes a stream as the other method does, but `write` runs on a thread that may block, with
    /// `ByteWriter.writeBlocking`.
    ///
    /// - Parameters:
    ///   - type: A media type for the reader; at most 256 bytes.
    ///   - totalBytes: The total number of bytes, for the reader.
    ///   - threads: The threads on which `write` runs. It occupies one of them until the reader has every byte.
    ///   - write: Writes the bytes. The stream is complete when it returns; if it throws, the stream fails.
    /// - Returns: The stream. It is written even if no code holds a reference to it.
    /// - Throws: The errors of the other method.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil, on threads: BlockingThreads,
        _ write: @escaping @Sendable (borrowing ByteWriter) throws -> Void
    ) async throws(BridgeError) -> ByteStream {
        let stream = try await sender.makeStream(type, totalBytes)
        sender.write(stream) { try await threads.run { try stream.writeBlocking(write) } }
        return stream
    }

    /// Writes a stream in this call's options, which its reader has made; otherwise as `makeStream`.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - write: Writes the bytes. The stream is complete when it returns; if it throws, the stream fails.
    public func writeStream(
        _ name: String, _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) {
        let stream = ByteStream(name, StreamWriting(StreamEnd(name, .write, sender), roomBytes: 0))
        sender.write(stream) { try await stream.write(write) }
    }
}

extension PluginContext {
    /// Returns a reader of a stream in a result that the plugin received in its own name. A member of the result with
    /// the type `ByteReader` is such a reader.
    public func readStream(_ name: String) -> ByteReader {
        ByteReader(name, StreamReading(StreamEnd(name, .read, sender)))
    }

    /// Makes a stream for the calls that the plugin makes in its own name; see `Call.makeStream`.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil,
        _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> ByteStream {
        let stream = try await sender.makeStream(type, totalBytes)
        sender.write(stream) { try await stream.write(write) }
        return stream
    }
}

extension Sender {
    func makeStream(
        _ type: String?, _ totalBytes: Int?
    ) async throws(BridgeError) -> ByteStream {
        let address = StreamCall.Address(stream: "", side: .write, parent: parent)
        let attaches = StreamWriting.isWorthPipe(totalBytes)
        let making = StreamCall(.make(type: type, totalBytes: totalBytes, attaches: attaches), address)
        let made = try await making.outcome(runtime.host).get()
        let end = StreamEnd(made.name, .write, Sender(runtime: runtime, parent: 0))
        let writing = StreamWriting(end, roomBytes: made.roomBytes, totalBytes: totalBytes, made.pipe)
        return ByteStream(made.name, writing)
    }

    /// Writes a stream in a task separate from the call.
    func write(_ stream: ByteStream, _ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: runtime.executor) {
            do {
                try await body()
            } catch {
                log.debug("the stream \(stream.name) was not written: \(error)")
            }
        }
    }
}
