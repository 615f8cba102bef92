import HTTPRules
import Sodium
import Synchronization
import TaskKit

/// Takes a response's body from the network into the store, and to those that read it meanwhile.
struct BodyPump: Sendable {
    /// How many bytes are taken after the last reader has gone: so a body that only leads elsewhere is stored, and its
    /// connection can be used again.
    static let lingeringBytes: Int64 = 64 << 10
    /// How long that may take.
    static let lingering = Duration.seconds(1)

    /// What becomes of the body in the store.
    enum Purpose: Sendable {
        /// It is stored with this response, whose ``StoredResponse/body`` is not known yet.
        case store(StoredResponse, WebURL, reason: String, version: String)
        /// It continues the body of an entry, at this place.
        case join(CacheEntry, Range<Int64>)
    }

    let source: any ResponseSource
    let body: GrowingBody
    let purpose: Purpose
    let address: CacheAddress
    let cache: HTTPCache
    /// A body that becomes longer is not stored.
    let maximumBytes: Int64
    /// Whether it goes on without readers.
    let isBehind: Bool

    private var uid: UInt32 { address.partition.uid }

    /// Takes all there is, stores it, and ends the body.
    func run() async {
        let writer = FileWriter(cache)
        var result: Result<Void, BridgeError>
        do throws(BridgeError) {
            try await takeAll(writer)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await store(writer, isFinished: (try? result.get()) != nil)
        body.finish(result)
    }

    private func takeAll(_ writer: FileWriter) async throws(BridgeError) {
        var lingeredFrom: Int64?
        while true {
            switch try await source.next() {
            case .head: throw .brokenProtocol("the server sent two responses")
            case .end: return
            case .bytes(let bytes):
                body.append(bytes)
                if !isBehind, body.isAbandoned {
                    lingeredFrom = lingeredFrom ?? body.end
                    guard body.isKept, body.end - (lingeredFrom ?? 0) <= Self.lingeringBytes else {
                        source.cancel()
                        throw .fetchCancelled
                    }
                }
                await keep(writer)
            }
        }
    }

    /// Writes what has come into the file, where it does not fit into a row, or waits for the readers.
    private func keep(_ writer: FileWriter) async {
        if body.end - body.base > maximumBytes { body.stopKeeping() }
        if body.isKept, body.end > Int64(CacheStore.rowBytes) { await file(writer) }
        if !body.isKept { await body.waitForRoom() }
    }

    private func file(_ writer: FileWriter) async {
        let (place, bytes) = body.unfiled
        guard let file = await writer.write(bytes, at: place, of: uid) else { return body.stopKeeping() }
        body.note(filed: place + Int64(bytes.count), in: file)
    }

    // MARK: The end

    private func store(_ writer: FileWriter, isFinished: Bool) async {
        guard body.isKept else { return }
        let received = body.end - body.base
        switch purpose {
        case .store(var response, let url, let reason, let version):
            guard isFinished || response.canBeContinued,
                let held = HeldBytes(
                    status: response.status, fields: response.fields, receivedBytes: received, isFinished: isFinished)
            else { return }
            response.body = held
            let bytes = body(writer)
            _ = await cache.insert(
                NewCacheEntry(
                    address: address, url: url, response: response, reason: reason, version: version, body: bytes))
        case .join(let entry, let range):
            let end = min(body.end, range.upperBound)
            guard end > range.lowerBound else { return }
            await cache.join(entry, range.lowerBound..<end, joinable(writer), at: address)
        }
    }

    /// The whole body, from byte 0 on.
    private func body(_ writer: FileWriter) -> NewCacheEntry.Body {
        if let written = writer.finish() { return written }
        return .bytes([UInt8](repeating: 0, count: Int(body.base)) + body.unfiled.bytes)
    }

    /// The bytes that came, from `base` on.
    private func joinable(_ writer: FileWriter) -> NewCacheEntry.Body {
        writer.finish() ?? .bytes(body.unfiled.bytes)
    }
}

/// A file that a body is written to, made with the first bytes.
private final class FileWriter: Sendable {
    private struct State {
        var file: BodyFile?
        var hash = BLAKE2b()
    }

    private let cache: HTTPCache
    private let state = Mutex(State())

    init(_ cache: HTTPCache) { self.cache = cache }

    /// Writes the next bytes.
    ///
    /// - Returns: The file; nil where it cannot be written.
    func write(_ bytes: [UInt8], at place: Int64, of uid: UInt32) async -> BodyFile? {
        guard let folder = cache.bodyFolder else { return nil }
        return await withCheckedContinuation { continuation in
            cache.bodies.submit(of: uid) {
                continuation.resume(returning: self.write(bytes, at: place, in: folder))
            }
        }
    }

    private func write(_ bytes: [UInt8], at place: Int64, in folder: BodyFolder) -> BodyFile? {
        state.withLock { state in
            guard let file = state.file ?? (try? folder.create()), (try? file.write(bytes, at: place)) != nil else {
                return nil
            }
            bytes.withUnsafeBytes { state.hash.update($0) }
            state.file = file
            return file
        }
    }

    /// The file with all that was written; nil: nothing was.
    func finish() -> NewCacheEntry.Body? {
        state.withLock { state in state.file.map { .file($0, hash: state.hash.finish()) } }
    }
}

extension StoredResponse {
    /// Whether an interrupted body can be continued later: only a strong tag proves that it is the same one.
    fileprivate var canBeContinued: Bool {
        (status == 200 || status == 206) && entityTag.map { !$0.isWeak } == true
    }
}
