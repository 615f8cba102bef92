import HTTPRules
import Synchronization
import TaskKit

/// The source of a part of a response's body.
enum BodyPart: Sendable {
    case bytes(ArraySlice<UInt8>)
    case file(BodyFile, Range<Int64>)
    case growing(GrowingReader)
    /// A body that is not stored, as it arrives.
    case passing(any ResponseSource)
}

/// A body from the store, or one that is being stored: its parts in their order, decoded. One reader.
final class StoredBody: ResponseSource {
    /// The number of bytes that are read at a time.
    private static let stepBytes = 32 << 10

    private struct State {
        var parts: [BodyPart]
        var pipeline: BodyPipeline
        var isFed = false
    }

    private let state: Mutex<State>
    private let threads: BlockingThreads
    private let uid: UInt32
    /// Whether the body needs neither decoding nor hashing.
    private let isPlain: Bool
    /// Whether the bytes come from the network for this reader.
    private let isReceived: Bool
    private let start = ContinuousClock.now

    /// Creates a body from its parts.
    ///
    /// - Parameters:
    ///   - parts: The bytes as they are stored.
    ///   - headers: The fields of the response, which name the codings.
    ///   - request: The options of the fetch that limit and check the body.
    ///   - isReceived: Whether the bytes come from the network for this reader.
    ///   - threads: The threads that read files and decode.
    ///   - uid: The user whose turn on these threads is used.
    /// - Throws: `http.decoding`, `http.too_large`.
    init(
        _ parts: [BodyPart], _ headers: HeaderList, _ request: FetchRequest, isReceived: Bool,
        _ threads: BlockingThreads, of uid: UInt32
    ) throws(BridgeError) {
        let fields = parts.isEmpty ? HeaderList() : headers
        let pipeline = try BodyPipeline(
            fields, maximumBytes: request.maximumBodyBytes, integrity: request.integrity)
        isPlain = !fields.contains(named: "Content-Encoding") && request.integrity == nil
        state = Mutex(State(parts: parts, pipeline: pipeline))
        (self.threads, self.uid, self.isReceived) = (threads, uid, isReceived)
    }

    func next() async throws(BridgeError) -> ResponseChannel.Event {
        while true {
            if state.withLock({ $0.isFed }) {
                if let bytes = try await decoded() { return .bytes(bytes) }
                state.withLock { $0.isFed = false }
            }
            guard let bytes = try await nextStored() else { return .end(try summary()) }
            guard !bytes.isEmpty else { continue }
            if isPlain {
                try feed(bytes)
                state.withLock { $0.isFed = true }
            } else {
                try await onThreads { (body) throws(BridgeError) in try body.feed(bytes) }
                state.withLock { $0.isFed = true }
            }
        }
    }

    func cancel() {
        let parts = state.withLock { state in
            defer { state.parts = [] }
            return state.parts
        }
        for part in parts {
            switch part {
            case .growing(let reader): reader.leave()
            case .passing(let source): source.cancel()
            case .bytes, .file: break
            }
        }
    }

    // MARK: Stored bytes

    private func nextStored() async throws(BridgeError) -> [UInt8]? {
        while let part = state.withLock({ $0.parts.first }) {
            if let bytes = try await next(of: part) { return bytes }
            state.withLock { state in
                if !state.parts.isEmpty { state.parts.removeFirst() }
            }
        }
        return nil
    }

    private func next(of part: BodyPart) async throws(BridgeError) -> [UInt8]? {
        switch part {
        case .bytes(let bytes):
            guard !bytes.isEmpty else { return nil }
            replaceFirst(.bytes(bytes.dropFirst(Self.stepBytes)))
            return Array(bytes.prefix(Self.stepBytes))
        case .file(let file, let range):
            guard !range.isEmpty else { return nil }
            let count = Int(min(Int64(Self.stepBytes), range.upperBound - range.lowerBound))
            let bytes = try await file.read(count, at: range.lowerBound, on: threads, of: uid)
            replaceFirst(.file(file, (range.lowerBound + Int64(bytes.count))..<range.upperBound))
            return bytes
        case .growing(let reader): return try await reader.next(threads, of: uid)
        case .passing(let source):
            switch try await source.next() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .head: throw .brokenProtocol("the server sent two responses")
            }
        }
    }

    private func replaceFirst(_ part: BodyPart) {
        state.withLock { state in
            // `cancel` may have removed all parts.
            if !state.parts.isEmpty { state.parts[0] = part }
        }
    }

    // MARK: Decoding

    private func feed(_ bytes: [UInt8]) throws(BridgeError) {
        try withPipeline { (pipeline) throws(BridgeError) in
            let outcome = bytes.withUnsafeBytes { bytes in
                Result { () throws(BridgeError) in try pipeline.feed(bytes) }
            }
            try outcome.get()
        }
    }

    private func decoded() async throws(BridgeError) -> [UInt8]? {
        if isPlain { return try withPipeline { (pipeline) throws(BridgeError) in try pipeline.next() } }
        return try await onThreads { (body) throws(BridgeError) in
            try body.withPipeline { (pipeline) throws(BridgeError) in try pipeline.next() }
        }
    }

    private func summary() throws(BridgeError) -> TransferSummary {
        try withPipeline { (pipeline) throws(BridgeError) in
            try pipeline.finish()
            return TransferSummary(
                wireBytes: isReceived ? pipeline.wireBytes : 0, decodedBytes: pipeline.decodedBytes,
                total: .now - start)
        }
    }

    private func withPipeline<T: Sendable>(
        _ body: @Sendable (BodyPipeline) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        try state.withLock { state in
            Result { () throws(BridgeError) in try body(state.pipeline) }
        }.get()
    }

    private func onThreads<T: Sendable>(
        _ body: @escaping @Sendable (StoredBody) throws(BridgeError) -> T
    ) async throws(BridgeError) -> T {
        try await withCheckedContinuation { continuation in
            threads.submit(of: uid) {
                continuation.resume(returning: Result { () throws(BridgeError) in try body(self) })
            }
        }.get()
    }
}

extension BodyFile {
    /// Reads the bytes at a position on another thread.
    ///
    /// - Throws: `storage.failed`, also if there are none.
    func read(
        _ count: Int, at place: Int64, on threads: BlockingThreads, of uid: UInt32
    ) async throws(BridgeError) -> [UInt8] {
        let bytes = await withCheckedContinuation { continuation in
            threads.submit(of: uid) { continuation.resume(returning: try? self.read(count, at: place)) }
        }
        guard let bytes, !bytes.isEmpty else {
            throw BridgeError(.storageFailed, "a stored body cannot be read", isTransient: true)
        }
        return bytes
    }
}
