// Bytes of any size, between a plugin and its callers: docs/streams.md.

extension Call {
    /// Reads a stream of this call's options. It takes the stream's end immediately; the bytes may be read after the
    /// call has ended. A member of the options of the type `ByteReader` is such a reader.
    ///
    /// - Parameter name: The stream's name.
    public func readStream(_ name: String) -> ByteReader {
        ByteReader(name, StreamReading(StreamEnd(name, .read, sender)))
    }

    /// Makes a stream for this call, and has `write` write it: its caller reads it, before or after the result, of
    /// which the stream is a member. It ends where the call fails.
    ///
    ///     struct Picture: Codable, Sendable { var picture: ByteStream }
    ///
    ///     return Picture(picture: try await call.makeStream(type: "image/png") { out in
    ///         for try await bytes in options.photo { try await out.write(turned(bytes)) }
    ///     })
    ///
    /// - Parameters:
    ///   - type: A media type, for the reader; at most 256 bytes.
    ///   - totalBytes: How many bytes there will be, for the reader.
    ///   - write: Writes the bytes, on the plugin's executor. The stream is complete where it returns; where it throws,
    ///     the stream ends with an error. It is not cancelled with the call.
    /// - Returns: The stream. It is written whether it is held or not.
    /// - Throws: `quota.exceeded` or `busy` where the caller has too many streams; `call.cancelled`.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil,
        _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> ByteStream {
        let stream = try await sender.makeStream(type, totalBytes)
        sender.write(stream) { try await stream.write(write) }
        return stream
    }

    /// Makes a stream as the other, and has `write` write it on a thread that may block, with
    /// `ByteWriter.writeBlocking`.
    ///
    /// - Parameters:
    ///   - type: A media type, for the reader; at most 256 bytes.
    ///   - totalBytes: How many bytes there will be, for the reader.
    ///   - threads: Where `write` runs. It has one of the threads until the reader has every byte.
    ///   - write: Writes the bytes; returning ends the stream, throwing fails it.
    /// - Returns: The stream. It is written whether it is held or not.
    /// - Throws: As the other.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil, on threads: BlockingThreads,
        _ write: @escaping @Sendable (borrowing ByteWriter) throws -> Void
    ) async throws(BridgeError) -> ByteStream {
        let stream = try await sender.makeStream(type, totalBytes)
        sender.write(stream) { try await threads.run { try stream.writeBlocking(write) } }
        return stream
    }

    /// Writes to a stream of this call's options, which its reader has made; otherwise as `makeStream`.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - write: Writes the bytes; returning ends the stream, throwing fails it.
    public func writeStream(
        _ name: String, _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) {
        let stream = ByteStream(name, StreamWriting(StreamEnd(name, .write, sender), roomBytes: 0))
        sender.write(stream) { try await stream.write(write) }
    }
}

extension PluginContext {
    /// Reads the stream of a result that the plugin got in its own name. A member of the result of the type
    /// `ByteReader` is such a reader.
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
    fileprivate func makeStream(
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

    /// Writes a stream beside the call.
    fileprivate func write(_ stream: ByteStream, _ body: @escaping @Sendable () async throws -> Void) {
        Task(executorPreference: runtime.executor) {
            do {
                try await body()
            } catch {
                log.debug("the stream \(stream.name) was not written: \(error)")
            }
        }
    }
}
