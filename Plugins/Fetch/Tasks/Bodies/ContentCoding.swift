import CCompression
import TaskKit

/// A decoder for one coding of a body that works in steps.
protocol CodingStage: AnyObject {
    /// Whether the end of the coded data was reached.
    var isComplete: Bool { get }

    /// Decodes some of these bytes into at most ``ContentDecoder/stepBytes`` bytes.
    ///
    /// - Parameter input: Coded bytes; none to get the bytes that the stage still holds.
    /// - Returns: The number of consumed bytes, and the decoded bytes.
    /// - Throws: `http.decoding`.
    func step(_ input: UnsafeRawBufferPointer) throws(BridgeError) -> (taken: Int, bytes: [UInt8])
}

/// The supported content codings.
enum ContentCoding: String, Sendable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// The value of `Accept-Encoding` in requests.
    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// Creates the coding for a name in `Content-Encoding`, in any case; `nil` if it is unknown.
    init?(name: String) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// Returns a new decoder.
    func makeStage() throws(BridgeError) -> any CodingStage {
        switch self {
        case .gzip, .deflate: ZlibStage(self)
        case .brotli: try BrotliStage()
        case .zstd: try ZstdStage()
        }
    }

    fileprivate func fault() -> BridgeError { .undecodable("the body is not valid \(rawValue)") }
    fileprivate func lacksMemory() -> BridgeError {
        BridgeError(.internal, "there is not enough memory for a decoder of \(rawValue)")
    }
}

/// A decoder for gzip, also with several members, and for deflate with or without a zlib header.
private final class ZlibStage: CodingStage {
    private let coding: ContentCoding
    /// Allocated separately because zlib checks that the address of the stream stays the same.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isOpen = false
    private(set) var isComplete = false

    init(_ coding: ContentCoding) {
        self.coding = coding
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    func step(_ input: UnsafeRawBufferPointer) throws(BridgeError) -> (taken: Int, bytes: [UInt8]) {
        if isComplete { try goOn(input) }
        guard !isComplete else { return (0, []) }
        try open(input)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        var status = Z_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: ContentDecoder.stepBytes) { buffer, count in
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            status = inflate(stream, Z_NO_FLUSH)
            count = buffer.count - Int(stream.pointee.avail_out)
        }
        guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else { throw coding.fault() }
        isComplete = status == Z_STREAM_END
        return (input.count - Int(stream.pointee.avail_in), bytes)
    }

    private func open(_ input: UnsafeRawBufferPointer) throws(BridgeError) {
        guard !isOpen, let first = input.first else { return }
        // 31: only gzip. A zlib header has 8 in the low four bits of its first byte, and a window of at most 32 KiB.
        let windowBits: Int32 = coding == .gzip ? 31 : first & 0x0F == 8 && first >> 4 <= 7 ? 15 : -15
        guard ccompression_inflate_start(stream, windowBits) else { throw coding.lacksMemory() }
        isOpen = true
    }

    /// Begins another gzip member if bytes follow the end.
    private func goOn(_ input: UnsafeRawBufferPointer) throws(BridgeError) {
        guard let first = input.first else { return }
        guard coding == .gzip, first == 0x1F, inflateReset(stream) == Z_OK else { throw coding.fault() }
        isComplete = false
    }
}

private final class BrotliStage: CodingStage {
    private let state: OpaquePointer
    private(set) var isComplete = false

    init() throws(BridgeError) {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else {
            throw ContentCoding.brotli.lacksMemory()
        }
        self.state = state
    }

    deinit { BrotliDecoderDestroyInstance(state) }

    func step(_ input: UnsafeRawBufferPointer) throws(BridgeError) -> (taken: Int, bytes: [UInt8]) {
        guard !isComplete else {
            if input.isEmpty { return (0, []) }
            throw ContentCoding.brotli.fault()
        }
        var left = input.count
        var next = input.bindMemory(to: UInt8.self).baseAddress
        var result = BROTLI_DECODER_RESULT_ERROR
        let bytes = [UInt8](unsafeUninitializedCapacity: ContentDecoder.stepBytes) { buffer, count in
            var room = buffer.count
            var out = buffer.baseAddress
            result = BrotliDecoderDecompressStream(state, &left, &next, &room, &out, nil)
            count = buffer.count - room
        }
        guard result != BROTLI_DECODER_RESULT_ERROR else { throw ContentCoding.brotli.fault() }
        isComplete = result == BROTLI_DECODER_RESULT_SUCCESS
        return (input.count - left, bytes)
    }
}

/// A decoder for zstd frames with a window of at most 8 MiB (RFC 9659).
private final class ZstdStage: CodingStage {
    private static let maximumWindowLog: Int32 = 23

    private let stream: OpaquePointer
    private(set) var isComplete = false

    init() throws(BridgeError) {
        guard let stream = ZSTD_createDStream() else { throw ContentCoding.zstd.lacksMemory() }
        self.stream = stream
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.maximumWindowLog)
    }

    deinit { ZSTD_freeDStream(stream) }

    func step(_ input: UnsafeRawBufferPointer) throws(BridgeError) -> (taken: Int, bytes: [UInt8]) {
        var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var status = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: ContentDecoder.stepBytes) { buffer, count in
            var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
            status = ZSTD_decompressStream(stream, &target, &source)
            count = target.pos
        }
        guard ZSTD_isError(status) == 0 else { throw ContentCoding.zstd.fault() }
        // A frame has ended; another may follow.
        if source.pos > 0 || !bytes.isEmpty { isComplete = status == 0 }
        return (source.pos, bytes)
    }
}
