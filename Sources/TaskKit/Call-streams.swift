internal import CTaskPlugin

// Bytes of any size, between a plugin and its callers: docs/streams.md.

extension Call {
    /// Reads a stream of this call's options. Its end is taken with the first read, which has to come before the call
    /// ends; what is left may be read after that.
    ///
    /// - Parameter name: The stream's name.
    public func readStream(_ name: String) -> ByteReader {
        ByteReader(StreamEnd(name, for: handle, runtime, log))
    }

    /// Makes a stream for this call, and has `write` write it: its caller reads it, before or after the result, which
    /// carries the stream's name. It ends where the call fails.
    ///
    ///     let name = try await call.makeStream(type: "image/png") { out in
    ///         for try await bytes in photo { try await out.write(turned(bytes)) }
    ///     }
    ///     return Picture(stream: name)
    ///
    /// - Parameters:
    ///   - type: A media type, for the reader; at most 256 bytes.
    ///   - totalBytes: How many bytes there will be, for the reader.
    ///   - write: Writes the bytes, on the plugin's executor. The stream is complete where it returns; where it throws,
    ///     the stream ends with an error. It is not cancelled with the call.
    /// - Returns: The stream's name.
    /// - Throws: `quota.exceeded` or `busy` where the caller has too many streams; `call.cancelled`.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil,
        _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> String {
        try await runtime.makeStream(type, totalBytes, for: handle, log, write)
    }

    /// Writes to a stream of this call's options, which its reader has made; otherwise as `makeStream`.
    ///
    /// - Parameters:
    ///   - name: The stream's name.
    ///   - write: Writes the bytes; returning ends the stream, throwing fails it.
    public func writeStream(
        _ name: String, _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) {
        runtime.write(StreamEnd(name, for: handle, runtime, log), roomBytes: 0, log, write)
    }
}

extension PluginContext {
    /// Reads the stream of a result that the plugin got in its own name.
    public func readStream(_ name: String) -> ByteReader { ByteReader(StreamEnd(name, for: 0, runtime, log)) }

    /// Makes a stream for the calls that the plugin makes in its own name; see `Call.makeStream`.
    public func makeStream(
        type: String? = nil, totalBytes: Int? = nil,
        _ write: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> String {
        try await runtime.makeStream(type, totalBytes, for: 0, log, write)
    }
}

extension PluginRuntime {
    fileprivate func makeStream(
        _ type: String?, _ totalBytes: Int?, for parent: trestle_call, _ log: PluginLog,
        _ body: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) async throws(BridgeError) -> String {
        var options: JSONObject = ["side": "write"]
        options["type"] = type.map(JSON.string)
        options["bytes"] = totalBytes.map { .number(JSONNumber($0)) }
        let made: JSON = try await call(
            "bridge.stream.new", JSON.object(options), BridgeRoute(parent: parent, session: nil, timeout: .standard),
            log: log)
        guard let name = made["stream"]?.stringValue, let room = made["room"]?.int64Value else {
            throw BridgeError(.resultInvalid, "the result of bridge.stream.new has no stream and no room")
        }
        write(StreamEnd(name, for: 0, self, log), roomBytes: Int(clamping: room), log, body)
        return name
    }

    fileprivate func write(
        _ end: StreamEnd, roomBytes: Int, _ log: PluginLog,
        _ body: @escaping @Sendable (borrowing ByteWriter) async throws -> Void
    ) {
        let writing = StreamWriting(end, roomBytes: roomBytes)
        Task(executorPreference: executor) {
            if let failure = await writing.run(body) { log.debug("the stream \(end.name) was not written: \(failure)") }
        }
    }
}
