import Dispatch
import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A store in its own directory, with a thread for each lane and a sink that records what it sends.
final class TestStore: Sendable {
    let directory: String
    let sink = RecordingSink()
    let store: StoreQueue
    let copies: StoreCopies
    let log = Mutex<[String]>([])
    private let threads = StoreLane.allCases.map { DispatchQueue(label: "\($0)") }

    /// The number of times that a lane's thread was given a job.
    let wakeUps = Counter()

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// - Parameters:
    ///   - directory: A directory that another store used before; `nil` for a new one.
    ///   - clock: The clock of the lanes' slices. By default it never advances, so no slice ends.
    ///   - gather: Receives the jobs that wake the lanes. By default it runs them at once.
    init(
        directory: String? = nil, deletions: Int64 = 1000, quota: StoreQuota = StoreQuota(),
        check: Interruption = Interruption(), clock: @escaping Slice.Clock = { .zero }, maximumLogBytes: Int = 1 << 40,
        gather: @escaping StoreQueue.Gatherer = { $0() }
    ) async throws {
        self.directory = try directory ?? Self.makeDirectory()
        let threads = threads
        let wakeUps = wakeUps
        store = StoreQueue(sink: sink, gather: gather, clock: clock, maximumLogBytes: maximumLogBytes) {
            wakeUps.add()
            threads[$0.rawValue].async(execute: $1)
        }
        copies = StoreCopies(store: store)
        try await store.open(
            .init(file: StoreFile(path: path), maximumDeletions: deletions, quota: quota) { line in
                self.log.withLock { $0.append(line) }
            }, check: check)
        copies.open(StoreFile(path: path))
    }

    /// Creates the directory of a closed store whose database has a damaged page of records.
    static func makeDamagedDirectory() async throws -> String {
        let directory = try makeDirectory()
        let store = try await TestStore(directory: directory)
        _ = await store.send(
            (0..<500).map { .init("create", ["table": "t", "key": .string("key \($0)"), "record": ["n": 1]]) })
        await store.close()
        let url = URL(fileURLWithPath: store.path)
        var bytes = try Data(contentsOf: url)
        let page = try #require((2..<bytes.count / 4096).last { bytes[$0 * 4096] == 0x0D })
        bytes.replaceSubrange(page * 4096..<page * 4096 + 100, with: Data(repeating: 0xFF, count: 100))
        try bytes.write(to: url)
        return directory
    }

    /// The directory of all stores of this process. It is removed when the process exits.
    private static let root: String = {
        atexit { try? FileManager.default.removeItem(atPath: TestStore.root) }
        return FileManager.default.temporaryDirectory.path + "/trestle-stores-\(getpid())"
    }()

    static func makeDirectory() throws -> String {
        let path = root + "/" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    var path: String { directory + "/records.sqlite" }

    // MARK: Calls

    struct Request: Sendable {
        var task: String
        var options: JSON
        var caller: Caller
        var isCancelled = false

        init(
            _ task: String, _ options: JSON, session: SessionID = 1, uid: UInt32 = 1000, origin: String = "local",
            isTrusted: Bool = false, isCancelled: Bool = false
        ) {
            self.task = task
            self.options = options
            self.isCancelled = isCancelled
            caller = Caller(session: session, uid: uid, gid: uid, pid: 1, origin: origin, isTrusted: isTrusted)
        }
    }

    typealias Outcome = Result<JSON, BridgeError>

    /// Makes one call and waits for its answer.
    @discardableResult
    func call(
        _ task: String, _ options: JSON, session: SessionID = 1, uid: UInt32 = 1000, origin: String = "local",
        isTrusted: Bool = false
    ) async throws -> JSON {
        let request = Request(task, options, session: session, uid: uid, origin: origin, isTrusted: isTrusted)
        return try await send([request])[0].get()
    }

    /// Makes a call and returns the error of its answer.
    func failure(
        _ task: String, _ options: JSON, session: SessionID = 1, uid: UInt32 = 1000, origin: String = "local",
        isTrusted: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> BridgeError {
        try await #require(
            throws: BridgeError.self, sourceLocation: sourceLocation,
            performing: {
                try await call(task, options, session: session, uid: uid, origin: origin, isTrusted: isTrusted)
            })
    }

    /// Blocks a lane after the work that it was given before; later work waits. It waits until the lane is blocked,
    /// because a call is answered before it has left the lane, which might still take the next one.
    ///
    /// - Returns: A closure that releases the lane.
    func hold(_ lane: StoreLane) async -> () -> Void {
        var release: () -> Void = {}
        await withCheckedContinuation { continuation in release = holdNext(lane) { continuation.resume() } }
        return release
    }

    /// Blocks all lanes as `hold` does.
    func holdAll() async -> () -> Void {
        var releases: [() -> Void] = []
        for lane in StoreLane.allCases { releases.append(await hold(lane)) }
        return { for release in releases { release() } }
    }

    /// Blocks a lane after the work that it was given before, without waiting for that.
    private func holdNext(_ lane: StoreLane, whenHeld: @escaping @Sendable () -> Void = {}) -> () -> Void {
        let gate = DispatchSemaphore(value: 0)
        threads[lane.rawValue].async {
            whenHeld()
            gate.wait()
        }
        return { gate.signal() }
    }

    /// Sends several calls that wait together when the lanes take them. Returns their answers.
    func send(_ requests: [Request]) async -> [Outcome] {
        await withCheckedContinuation { continuation in
            let collected = Collected(count: requests.count) { continuation.resume(returning: $0) }
            // The lanes are blocked until all calls are in the queues.
            let release = StoreLane.allCases.map { holdNext($0) }
            for (index, request) in requests.enumerated() {
                store.take(storeCall(request) { collected.add($0, at: index) })
            }
            release.forEach { $0() }
        }
    }

    /// Sends several calls that wait together when the lanes take them. Returns their indices in the order of their
    /// answers.
    ///
    /// No lane may be blocked when this is called.
    func order(of requests: [Request]) async -> [Int] {
        let release = await holdAll()
        let order = Mutex<[Int]>([])
        return await withCheckedContinuation { continuation in
            for (index, request) in requests.enumerated() {
                store.take(
                    storeCall(request) { _ in
                        let all = order.withLock { order in
                            order.append(index)
                            return order
                        }
                        if all.count == requests.count { continuation.resume(returning: all) }
                    })
            }
            release()
        }
    }

    /// Blocks until a lane's thread has done the work that it was given. Must not be called on that thread.
    func waitForThread(of lane: StoreLane) { threads[lane.rawValue].sync {} }

    /// Makes a call without waiting for its answer.
    ///
    /// - Parameter whenAnswered: Called on the lane's thread, with the answer.
    func begin(_ request: Request, whenAnswered: @escaping @Sendable () -> Void = {}) -> PendingCall {
        let pending = PendingCall()
        store.take(
            storeCall(request) {
                whenAnswered()
                pending.end($0)
            })
        return pending
    }

    private func storeCall(_ request: Request, _ answer: @escaping @Sendable (Outcome) -> Void) -> any StoreCall {
        switch request.task {
        case "create": TestCall(CreateTask(store: store), request, answer)
        case "read": TestCall(ReadTask(store: store), request, answer)
        case "update": TestCall(UpdateTask(store: store), request, answer)
        case "delete": TestCall(DeleteTask(store: store), request, answer)
        case "query": TestCall(QueryTask(store: store), request, answer)
        case "watch": TestCall(WatchTask(store: store), request, answer)
        case "transaction": TestCall(TransactionTask(store: store), request, answer)
        default: preconditionFailure("no such task: \(request.task)")
        }
    }

    /// Carries out a write that belongs to no task.
    func work(_ body: @escaping @Sendable (StoreAccess) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            store.submit(
                StoreJob(session: 0, user: 0, .write, body) { outcome in continuation.resume(with: outcome.map { _ in })
                })
        }
    }

    /// Waits until the lanes have done the work that they were given so far, and the work that resulted from it.
    func finishJobs() async { await finishJobs(of: StoreLane.allCases) }

    /// Waits as `finishJobs` does, for all lanes except one that is blocked.
    func finishJobsOfOthers(than held: StoreLane) async {
        await finishJobs(of: StoreLane.allCases.filter { $0 != held })
    }

    private func finishJobs(of lanes: [StoreLane]) async {
        for _ in 0..<3 {
            for thread in lanes.map({ threads[$0.rawValue] }) {
                await withCheckedContinuation { continuation in thread.async { continuation.resume() } }
            }
        }
    }

    /// Waits until the lanes have no work left, replays included.
    func settle() async {
        repeat { await finishJobs() } while sink.handOver()
    }

    func close() async {
        await copies.close()
        await store.close()
    }
}
