// Streams with the bytes of a file.

extension Call {
    /// Makes a stream for this call with the bytes of a file. They are read on threads that may block, in chunks, as
    /// fast as the reader takes them.
    ///
    ///     struct Report: Codable, Sendable { var file: ByteStream }
    ///
    ///     return Report(file: try await call.makeStream(file: path, type: "application/pdf"))
    ///
    /// The stream has as many bytes as the file has when this is called. If the file becomes shorter, the stream ends
    /// with an error. A file of `/proc` states no size, and gives an empty stream.
    ///
    /// - Parameters:
    ///   - path: The path of a regular file; symbolic links are followed. The path must not come from a caller: open
    ///     the file of a caller's name in the folder with `openat` and `O_NOFOLLOW`, and pass the descriptor.
    ///   - type: A media type for the reader; at most 256 bytes.
    /// - Returns: The stream. It is written even if no code holds a reference to it.
    /// - Throws: ``FileStreamError`` if the file cannot be read; `quota.exceeded` or `busy` if the caller has too many
    ///   streams; `call.cancelled`.
    public func makeStream(file path: String, type: String? = nil) async throws -> ByteStream {
        try await sender.makeStream(path, type)
    }

    /// Makes a stream for this call with the bytes of an open file, from its beginning, as the method for a path does.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of a regular file, open for reading. It is closed when its bytes have been read,
    ///     and also if this throws.
    ///   - type: A media type for the reader; at most 256 bytes.
    /// - Returns: The stream. It is written even if no code holds a reference to it.
    /// - Throws: The errors of the method for a path.
    public func makeStream(descriptor: CInt, type: String? = nil) async throws -> ByteStream {
        try await sender.makeStream(StreamedFile(descriptor), type)
    }
}

extension PluginContext {
    /// Makes a stream with the bytes of a file for the calls that the plugin makes in its own name; see
    /// ``Call/makeStream(file:type:)``.
    public func makeStream(file path: String, type: String? = nil) async throws -> ByteStream {
        try await sender.makeStream(path, type)
    }

    /// Makes a stream with the bytes of an open file for the calls that the plugin makes in its own name; see
    /// ``Call/makeStream(descriptor:type:)``.
    public func makeStream(descriptor: CInt, type: String? = nil) async throws -> ByteStream {
        try await sender.makeStream(StreamedFile(descriptor), type)
    }
}

extension Sender {
    fileprivate func makeStream(_ path: String, _ type: String?) async throws -> ByteStream {
        try await makeStream(runtime.blocking { () throws(FileStreamError) in try StreamedFile(path: path) }, type)
    }

    fileprivate func makeStream(_ file: StreamedFile, _ type: String?) async throws -> ByteStream {
        let byteCount = try await runtime.blocking { () throws(FileStreamError) in try file.byteCount() }
        let stream = try await makeStream(type, byteCount)
        write(stream) {
            try await stream.write { out in
                var position = 0
                while position < byteCount {
                    let start = position
                    let bytes = try await runtime.beside { file.read(at: start, end: byteCount) }.get()
                    try await out.write(bytes)
                    position += bytes.count
                }
            }
        }
        return stream
    }
}
