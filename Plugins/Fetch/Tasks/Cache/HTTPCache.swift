import HTTPRules
import Synchronization
import TaskKit

/// The response store: on the disk, with a thread of its own, and recently used entries in memory. If it is not open,
/// nothing is found or stored. Any thread.
final class HTTPCache: Sendable {
    /// The threads that read, write and decode bodies in files.
    let bodies = BlockingThreads(name: "fetch-bodies", count: 2)
    private let threads = BlockingThreads(name: "fetch-cache")
    private let store = Mutex<CacheStore?>(nil)
    private let memory = MemoryTier()
    private let confirmations = Confirmations()
    private let limits = Mutex(CacheSettings())
    private let folder = Mutex<BodyFolder?>(nil)
    private let metrics: @Sendable () -> FetchMetrics

    init(metrics: @escaping @Sendable () -> FetchMetrics = { FetchMetrics() }) { self.metrics = metrics }

    /// The maximum length of a stored body; `nil` if nothing is stored.
    var maximumBodyBytes: Int64? {
        guard folder.withLock({ $0 != nil }) else { return nil }
        let settings = limits.withLock { $0 }
        return settings.bytes > 0 ? settings.maximumBodyBytes : nil
    }

    /// The folder of bodies; `nil` if the store is not open.
    var bodyFolder: BodyFolder? { folder.withLock { $0 } }

    // MARK: Life

    /// Opens the store. If that fails, the reason is logged, and fetches work without the store.
    func open(
        directory: String, settings: CacheSettings, now: @escaping @Sendable () -> UnixTime,
        log: @escaping @Sendable (String) -> Void
    ) async {
        await job(of: 0) {
            do {
                let store = try CacheStore(directory: directory, settings: settings, now: now, log: log)
                self.folder.withLock { $0 = store.folder }
                self.limits.withLock { $0 = settings }
                self.memory.limit(to: settings.memoryBytes)
                self.store.withLock { $0 = store }
            } catch {
                log("nothing is cached: the store in \(directory) cannot be opened: \(error)")
            }
        }
    }

    func close() async {
        folder.withLock { $0 = nil }
        await job(of: 0) {
            self.store.withLock { store in
                guard store != nil else { return }
                self.writeConfirmations(&store!)  // `!`: checked above
                store?.note(used: self.memory.takeUsed())
                store?.close()
                store = nil
            }
        }
    }

    /// Applies other limits.
    func configure(_ settings: CacheSettings) {
        let changed = limits.withLock { limits in
            defer { limits = settings }
            return limits != settings
        }
        guard changed else { return }
        memory.limit(to: settings.memoryBytes)
        threads.submit { self.store.withLock { $0?.configure(settings) } }
    }

    // MARK: Entries

    /// Returns the entries of a URL.
    func entries(at address: CacheAddress) async -> [CacheEntry] {
        if let known = memory.entries(at: address) { return known }
        return await run(of: address.partition.uid) { store in self.refresh(address, &store) } ?? []
    }

    /// Opens the file of an entry's body; returns `nil` if it does not exist any more.
    func file(_ name: String, of uid: UInt32) async -> BodyFile? {
        guard let folder = bodyFolder else { return nil }
        return await withCheckedContinuation { continuation in
            bodies.submit(of: uid) { continuation.resume(returning: folder.open(name)) }
        }
    }

    /// Records that an entry has answered a request.
    func note(used id: Int64) { memory.note(used: id) }

    /// Counts a request that the store has answered.
    func countHit() { metrics().hits.add() }

    /// Stores a response and removes the one of the same variant.
    ///
    /// - Parameter isWanted: Returns false if a removal that was requested meanwhile concerns the response. Called on
    ///   the store's thread.
    /// - Returns: Whether it was stored.
    func insert(_ new: NewCacheEntry, if isWanted: @escaping @Sendable () -> Bool = { true }) async -> Bool {
        await change(at: new.address) { store in isWanted() && store.insert(new) != nil } ?? false
    }

    /// Changes the fields of some entries of a URL, and removes others.
    func update(_ responses: [StoredResponse], remove ids: [Int64], at address: CacheAddress) async {
        await change(at: address) { store in store.update(responses, remove: ids) }
    }

    /// Does the same without waiting, after the server has confirmed stored responses. Later lookups of the URL find
    /// the change. The store writes it with its next operation, and removes entries soon.
    func note(confirmed responses: [StoredResponse], remove ids: [Int64], at address: CacheAddress) {
        // Before `memory.update`: see `refresh`.
        let isFull = confirmations.add(responses)
        memory.update(responses, remove: ids, at: address)
        guard isFull || !ids.isEmpty else { return }
        threads.submit(of: address.partition.uid) {
            self.perform(at: address) { store in store.update([], remove: ids) }
        }
    }

    /// Adds bytes to the body of an entry.
    func join(
        _ entry: CacheEntry, _ range: Range<Int64>, _ bytes: NewCacheEntry.Body, at address: CacheAddress
    ) async { await change(at: address) { store in store.join(entry, range, bytes) } }

    /// Removes all entries of a URL.
    func remove(at address: CacheAddress) async { await change(at: address) { store in store.remove(at: address) } }

    /// Runs a transaction on the entries of a user; returns `nil` if the storage fails or is not open.
    ///
    /// - Parameters:
    ///   - uid: The user.
    ///   - removes: Whether the transaction removes entries.
    ///   - body: The transaction.
    func perform<T: Sendable>(
        of uid: UInt32, removes: Bool, _ body: @escaping @Sendable (inout CacheRows) throws -> T
    ) async -> T? {
        await run(of: uid) { store -> T? in
            defer { if removes { self.memory.removeAll(of: uid) } }
            return store.perform(body)
        } ?? nil
    }

    /// The number of bytes in memory, of all users.
    var memoryBytes: Int64 { memory.byteCount }

    // MARK: The store's thread

    @discardableResult
    private func change<T: Sendable>(
        at address: CacheAddress, _ body: @escaping @Sendable (inout CacheStore) -> T
    ) async -> T? {
        await withCheckedContinuation { continuation in
            threads.submit(of: address.partition.uid) {
                continuation.resume(returning: self.perform(at: address, body))
            }
        }
    }

    @discardableResult
    private func perform<T>(at address: CacheAddress, _ body: (inout CacheStore) -> T) -> T? {
        perform { store in
            let before = store.evicted
            store.note(used: self.memory.takeUsed())
            let result = body(&store)
            self.metrics().evictions.add(store.evicted - before)
            _ = self.refresh(address, &store)
            return result
        }
    }

    private func refresh(_ address: CacheAddress, _ store: inout CacheStore) -> [CacheEntry] {
        let entries = store.entries(at: address)
        memory.put(entries, at: address)
        // Applies confirmations that arrived after the store was read.
        memory.update(confirmations.of(entries.map(\.response.id)), remove: [], at: address)
        return entries
    }

    private func writeConfirmations(_ store: inout CacheStore) {
        let confirmed = confirmations.takeAll()
        guard !confirmed.isEmpty else { return }
        let before = store.evicted
        store.update(confirmed, remove: [])
        metrics().evictions.add(store.evicted - before)
    }

    private func run<T: Sendable>(
        of uid: UInt32, _ body: @escaping @Sendable (inout CacheStore) -> T
    ) async -> T? {
        await withCheckedContinuation { continuation in
            threads.submit(of: uid) { continuation.resume(returning: self.perform(body)) }
        }
    }

    /// Runs an operation on the store; returns `nil` if the store is not open.
    private func perform<T>(_ body: (inout CacheStore) -> T) -> T? {
        store.withLock { store -> T? in
            guard store != nil else { return nil }
            let before = store!.reopenings  // `!` in all: checked above
            writeConfirmations(&store!)
            let result = body(&store!)
            if store!.reopenings != before {
                // The entries in memory belong to the old file.
                memory.removeAll(of: nil)
                _ = confirmations.takeAll()
            }
            return result
        }
    }

    private func job(of uid: UInt32, _ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            threads.submit(of: uid) {
                body()
                continuation.resume()
            }
        }
    }
}
