public import BridgeJSON

/// Bytes of any size, from one client or plugin to another: docs/streams.md.
extension Bridge {
    /// Creates a stream whose bytes this client writes. The options or the result of a call carry its name to the
    /// reader.
    ///
    ///     let photo = try await bridge.makeStream(type: "image/png")
    ///     async let sum: Sum = bridge.call("photos.add", Photo(photo: photo.name))
    ///     try await photo.write { out in try await out.write(bytes) }
    ///
    /// - Parameters:
    ///   - type: The media type, for the reader; at most 256 bytes; `nil` for none.
    ///   - totalBytes: The total number of bytes, for the reader; `nil` if unknown.
    ///   - call: The call that a handler works on and that the stream belongs to: its caller may read the stream, and
    ///     the stream ends if the call fails. `nil` for none.
    /// - Throws: `quota.exceeded` or `busy` if there are too many streams; the errors of any call.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil, for call: IncomingCall? = nil
    ) async throws(BridgeError) -> ByteStream {
        let attaches = StreamWriting.isWorthPipe(totalBytes)
        var options = StreamOptions.new(type: type, totalBytes: totalBytes, attaches: attaches)
        options["call"] = call?.id.map { .number(JSONNumber($0)) }
        let request = CallRequest("bridge.stream.new", .object(options))
        let (made, end, pipe) = try await StreamEnd.make(request, session.calls)
        let writing = StreamWriting(end, roomBytes: made.roomBytes, messageBytes: messageBytes, totalBytes)
        if let pipe { await writing.use(pipe) }
        return ByteStream(made.name, writing)
    }

    /// Reads the stream whose name arrived in options or a result. The first read takes the end; for a call that a
    /// handler works on, this method takes it immediately.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - call: The call that a handler works on, and whose options have the name.
    public func readStream(_ name: String, for call: IncomingCall? = nil) async -> ByteReader {
        let reading = StreamReading(StreamEnd(name, .read, for: call, session.calls))
        if call != nil { await reading.take() }
        return ByteReader(name, reading)
    }

    /// Writes to a stream that its reader has created. The first write takes the end.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - call: The call that a handler works on, and whose options have the name.
    public func writeStream(_ name: String, for call: IncomingCall? = nil) async -> ByteStream {
        let end = StreamEnd(name, .write, for: call, session.calls)
        return ByteStream(name, StreamWriting(end, roomBytes: 0, messageBytes: messageBytes, nil))
    }

    /// The maximum length of a message; a daemon may accept shorter messages than the standard.
    private var messageBytes: Int { daemon?.limits.messageBytes ?? DaemonInfo.defaultMessageBytes }
}
