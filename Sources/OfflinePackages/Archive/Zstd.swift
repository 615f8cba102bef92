import CCompression

/// An incremental zstd decoder.
final class ZstdDecoder {
    private static let stepBytes = 128 << 10
    /// A window of 8 MiB, the limit of RFC 9659.
    private static let maximumWindowLog: Int32 = 23

    private let stream: OpaquePointer
    /// Whether the end of the frame was reached.
    private(set) var isComplete = false

    init() {
        // `!`: `nil` only if memory is exhausted.
        stream = ZSTD_createDStream()!
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maximumWindowLog)
    }

    deinit { ZSTD_freeDStream(stream) }

    /// Decodes bytes and passes the result on in pieces.
    ///
    /// - Throws: `format`; the errors of `body`.
    func take(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(PackageFault) -> Void
    ) throws(PackageFault) {
        var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isFull = false
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.stepBytes, alignment: 1)
        defer { room.deallocate() }
        while source.pos < source.size || isFull {
            guard !isComplete else { throw PackageFault(.format, "there is data after the end of the archive") }
            var target = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
            let status = ZSTD_decompressStream(stream, &target, &source)
            guard ZSTD_isError(status) == 0 else { throw PackageFault(.format, "the archive is not valid zstd") }
            isComplete = status == 0
            isFull = target.pos == target.size && !isComplete
            try body(UnsafeRawBufferPointer(rebasing: room[..<target.pos]))
        }
    }
}

/// An incremental zstd encoder. The same input gives the same output with the same version of libzstd.
final class ZstdEncoder {
    private static let level: Int32 = 19

    private let stream: OpaquePointer
    private let write: (UnsafeRawBufferPointer) throws -> Void

    /// - Parameter write: Receives the encoded bytes.
    init(_ write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        // `!`: `nil` only if memory is exhausted.
        stream = ZSTD_createCStream()!
        ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, Self.level)
        self.write = write
    }

    deinit { ZSTD_freeCStream(stream) }

    func take(_ bytes: UnsafeRawBufferPointer) throws { try step(bytes, ZSTD_e_continue) }
    func finish() throws { try step(UnsafeRawBufferPointer(start: nil, count: 0), ZSTD_e_end) }

    private func step(_ bytes: UnsafeRawBufferPointer, _ directive: ZSTD_EndDirective) throws {
        var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 1)
        defer { room.deallocate() }
        while true {
            var target = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
            let rest = ZSTD_compressStream2(stream, &target, &source, directive)
            guard ZSTD_isError(rest) == 0 else { throw PackageFault(.storage, "zstd cannot encode the package") }
            if target.pos > 0 { try write(UnsafeRawBufferPointer(rebasing: room[..<target.pos])) }
            if directive == ZSTD_e_end ? rest == 0 : source.pos == source.size { return }
        }
    }
}
