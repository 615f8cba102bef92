public import BridgeJSON

/// Bytes of any size, from one client or plugin to another: docs/streams.md.
extension Bridge {
    /// Makes a stream, whose bytes this end writes. Options or a result carry its name to the reader.
    ///
    ///     let photo = try await bridge.makeStream(type: "image/png")
    ///     async let sum: Sum = bridge.call("photos.add", Photo(photo: photo.name))
    ///     try await photo.write { out in try await out.write(bytes) }
    ///
    /// - Parameters:
    ///   - type: A media type, for the reader; at most 256 bytes.
    ///   - totalBytes: How many bytes there will be, for the reader.
    ///   - call: The call that a handler works on, and that the stream is for: its caller may read it, and it ends
    ///     where the call fails.
    /// - Throws: `quota.exceeded` or `busy` where there are too many streams; as any call does.
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

    /// Reads the stream of a name that came in options or a result. The end is taken with the first read; for a call
    /// that a handler works on, immediately.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - call: The call that a handler works on, and whose options have the name.
    public func readStream(_ name: String, for call: IncomingCall? = nil) async -> ByteReader {
        let reading = StreamReading(StreamEnd(name, .read, for: call, session.calls))
        if call != nil { await reading.take() }
        return ByteReader(name, reading)
    }

    /// Writes to a stream that its reader has made. The end is taken with the first write.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - call: The call that a handler works on, and whose options have the name.
    public func writeStream(_ name: String, for call: IncomingCall? = nil) async -> ByteStream {
        let end = StreamEnd(name, .write, for: call, session.calls)
        return ByteStream(name, StreamWriting(end, roomBytes: 0, messageBytes: messageBytes, nil))
    }

    /// A daemon may take shorter messages than the standard.
    private var messageBytes: Int { daemon?.limits.messageBytes ?? DaemonInfo.defaultMessageBytes }
}
