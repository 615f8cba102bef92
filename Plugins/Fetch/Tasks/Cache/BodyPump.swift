import HTTPRules
import Sodium
import Synchronization
import TaskKit

/// Copies a response's body from the network into the store, and to the readers that read it meanwhile.
struct BodyPump: Sendable {
    /// The number of bytes that are still received after the last reader has left. This stores the short body of a
    /// redirect, and its connection can be used again.
    static let lingeringBytes: Int64 = 64 << 10
    /// The maximum time for that.
    static let lingering = Duration.seconds(1)

    /// The use of the body in the store.
    enum Purpose: Sendable {
        /// The body is stored with this response, whose ``StoredResponse/body`` is not known yet.
        case store(StoredResponse, WebURL, reason: String, version: String)
        /// The body is added to the body of an entry, at this range.
        case join(CacheEntry, Range<Int64>)
    }

    let source: any ResponseSource
    let body: GrowingBody
    let purpose: Purpose
    let address: CacheAddress
    let cache: HTTPCache
    /// The maximum length of a stored body. A longer one is not stored.
    let maximumBytes: Int64
    /// Whether the pump continues without readers.
    let isBackground: Bool

    private var uid: UInt32 { address.partition.uid }

    /// Receives the whole body, stores it, and ends it.
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
        var lingering: (abandonment: GrowingBody.Abandonment, from: Int64)?
        while true {
            switch try await source.next() {
            case .head: throw .brokenProtocol("the server sent two responses")
            case .end: return
            case .bytes(let bytes):
                body.append(bytes)
                if !isBackground, let abandonment = body.abandonment {
                    let from = lingering.flatMap { $0.abandonment == abandonment ? $0.from : nil } ?? body.end
                    lingering = (abandonment, from)
                    if !body.isKept || body.end - from > Self.lingeringBytes, body.giveUp(abandonment) {
                        source.cancel()
                        throw .fetchCancelled
                    }
                }
                await keep(writer)
            }
        }
    }

    /// Writes the received bytes into the file if the body does not fit into a row. Waits for the readers if the body
    /// is not stored.
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
            let new = NewCacheEntry(
                address: address, url: url, response: response, reason: reason, version: version, body: bytes)
            _ = await cache.insert(new) { [body] in body.isKept }
        case .join(let entry, let range):
            let end = min(body.end, range.upperBound)
            guard end > range.lowerBound else { return }
            await cache.join(entry, range.lowerBound..<end, joinable(writer), at: address)
        }
    }

    /// Returns the whole body from byte 0 on.
    private func body(_ writer: FileWriter) -> NewCacheEntry.Body {
        if let written = writer.finish() { return written }
        return .bytes([UInt8](repeating: 0, count: Int(body.base)) + body.unfiled.bytes)
    }

    /// Returns the received bytes from `base` on.
    private func joinable(_ writer: FileWriter) -> NewCacheEntry.Body {
        writer.finish() ?? .bytes(body.unfiled.bytes)
    }
}

/// A file that a body is written to. It is created with the first bytes.
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
    /// - Returns: The file; `nil` if it cannot be written.
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

    /// Returns the file with all written bytes; `nil` if nothing was written.
    func finish() -> NewCacheEntry.Body? {
        state.withLock { state in state.file.map { .file($0, hash: state.hash.finish()) } }
    }
}

extension StoredResponse {
    /// Whether an interrupted body can be continued later. Only a strong entity tag proves that it is the same body.
    fileprivate var canBeContinued: Bool {
        (status == 200 || status == 206) && entityTag.map { !$0.isWeak } == true
    }
}
