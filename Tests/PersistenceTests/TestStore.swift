import Dispatch
import Foundation
import Synchronization
import TaskKit
import Testing

@testable import PersistenceTasks

/// A store in a directory of its own, each lane on a thread of its own, and what it sent.
final class TestStore: Sendable {
    let directory: String
    let sink = RecordingSink()
    let store: Store
    let copies: StoreCopies
    let log = Mutex<[String]>([])
    private let threads = StoreLane.allCases.map { DispatchQueue(label: "\($0)") }

    /// How often a lane's thread was given something to do.
    let wakeUps = Counter()

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    /// - Parameters:
    ///   - directory: One that another store used before; nil: a new one.
    ///   - clock: For the lanes' slices; by default time stands still, so that none ends.
    ///   - gather: What is done with the lanes' waking; by default they are woken at once.
    init(
        directory: String? = nil, deletions: Int64 = 1000, quota: StoreQuota = StoreQuota(),
        check: Interruption = Interruption(), clock: @escaping Slice.Clock = { .zero }, maximumLogBytes: Int = 1 << 40,
        gather: @escaping Store.Gatherer = { $0() }
    ) async throws {
        self.directory = try directory ?? Self.makeDirectory()
        let threads = threads
        let wakeUps = wakeUps
        store = Store(sink: sink, gather: gather, clock: clock, maximumLogBytes: maximumLogBytes) {
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

    /// A store's directory, whose database has a damaged page of records.
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

    /// Where all stores of this process are; gone with it.
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

    /// One call, to its answer.
    @discardableResult
    func call(
        _ task: String, _ options: JSON, session: SessionID = 1, uid: UInt32 = 1000, origin: String = "local",
        isTrusted: Bool = false
    ) async throws -> JSON {
        let request = Request(task, options, session: session, uid: uid, origin: origin, isTrusted: isTrusted)
        return try await send([request])[0].get()
    }

    /// The error that a call is answered with.
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

    /// Holds up a lane that is not held, from when it has done what it was given: an answer comes before its call has
    /// left the lane, which might still take the next one. What it is given from now on waits.
    ///
    /// - Returns: Lets it go on.
    func hold(_ lane: StoreLane) async -> () -> Void {
        var release: () -> Void = {}
        await withCheckedContinuation { continuation in release = holdNext(lane) { continuation.resume() } }
        return release
    }

    /// The same for all lanes.
    func holdAll() async -> () -> Void {
        var releases: [() -> Void] = []
        for lane in StoreLane.allCases { releases.append(await hold(lane)) }
        return { for release in releases { release() } }
    }

    /// Holds up a lane when it has done what it was given, without waiting for that.
    private func holdNext(_ lane: StoreLane, whenHeld: @escaping @Sendable () -> Void = {}) -> () -> Void {
        let gate = DispatchSemaphore(value: 0)
        threads[lane.rawValue].async {
            whenHeld()
            gate.wait()
        }
        return { gate.signal() }
    }

    /// Several calls that wait together when the lanes get to them, to their answers.
    func send(_ requests: [Request]) async -> [Outcome] {
        await withCheckedContinuation { continuation in
            let collected = Collected(count: requests.count) { continuation.resume(returning: $0) }
            // The lanes are held until all of them are in the queues.
            let release = StoreLane.allCases.map { holdNext($0) }
            for (index, request) in requests.enumerated() {
                store.take(storeCall(request) { collected.add($0, at: index) })
            }
            release.forEach { $0() }
        }
    }

    /// The numbers of calls that wait together when the lanes get to them, in the order of their answers.
    ///
    /// No lane is held when this is called.
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

    /// Waits until a lane's thread has done what it was given. Not on that thread.
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

    /// Carries out a write that is no task's.
    func work(_ body: @escaping @Sendable (StoreAccess) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            store.submit(
                StoreJob(session: 0, user: 0, .write, body) { outcome in continuation.resume(with: outcome.map { _ in })
                })
        }
    }

    /// Waits until the lanes have done what they were given so far, and what that gave them to do.
    func finishJobs() async { await finishJobs(of: StoreLane.allCases) }

    /// The same, but for a lane that is held.
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

    /// Waits until the lanes have nothing left to do, replays included.
    func settle() async {
        repeat { await finishJobs() } while sink.handOver()
    }

    func close() async {
        await copies.close()
        await store.close()
    }
}

/// A task's call that came over no bridge.
private final class TestCall<Task: StoreTask>: StoreCall {
    let sizeBytes: Int
    private let task: Task
    private let request: TestStore.Request
    private let options: StoreOptions<Task.Request>
    private let end: @Sendable (TestStore.Outcome) -> Void

    init(_ task: Task, _ request: TestStore.Request, _ end: @escaping @Sendable (TestStore.Outcome) -> Void) {
        (self.task, self.request, self.end) = (task, request, end)
        let text = request.options.bytes
        sizeBytes = text.count
        options = Task.options(of: text)
    }

    var lane: StoreLane { Task.lane }
    var effect: BatchPlanner.Effect { Task.effect }
    var mayWatch: Bool { Task.mayWatch }
    var session: SessionID { request.caller.session }
    var user: UInt32 { request.caller.uid }
    var isCancelled: Bool { request.isCancelled }

    func carryOut(_ visit: StoreVisit) throws -> StoreWork { try task.carryOut(options, request.caller, visit) }

    func answer(_ outcome: Result<[UInt8], BridgeError>) {
        end(
            outcome.map { bytes in
                (try? JSON(parsing: bytes)) ?? .string("not JSON: \(String(decoding: bytes, as: UTF8.self))")
            })
    }
}

/// A call that was made, and its answer once it has come.
final class PendingCall: Sendable {
    private struct State {
        var outcome: TestStore.Outcome?
        var waiting: CheckedContinuation<TestStore.Outcome, Never>?
    }

    private let state = Mutex(State())

    fileprivate func end(_ outcome: TestStore.Outcome) {
        let waiting = state.withLock { state in
            if state.outcome != nil { Issue.record("a call was answered twice") }
            state.outcome = outcome
            return state.waiting.take()
        }
        waiting?.resume(returning: outcome)
    }

    var isAnswered: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for the answer.
    var outcome: TestStore.Outcome {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }
}

/// Puts answers that come in any order into that of the calls.
private final class Collected: Sendable {
    private let answers = Mutex([Int: TestStore.Outcome]())
    private let count: Int
    private let whenComplete: @Sendable ([TestStore.Outcome]) -> Void

    init(count: Int, whenComplete: @escaping @Sendable ([TestStore.Outcome]) -> Void) {
        self.count = count
        self.whenComplete = whenComplete
    }

    func add(_ outcome: TestStore.Outcome, at index: Int) {
        let all = answers.withLock { answers -> [TestStore.Outcome]? in
            if answers.updateValue(outcome, forKey: index) != nil { Issue.record("call \(index) was answered twice") }
            guard answers.count == count else { return nil }
            return answers.sorted { $0.key < $1.key }.map(\.value)
        }
        if let all { whenComplete(all) }
    }
}

/// Keeps what is sent.
final class RecordingSink: StoreSink {
    struct SentChange: Sendable, Equatable {
        var session: SessionID
        var change: RecordChanged
    }

    /// A table that a session was asked to read again.
    struct SentExpired: Sendable, Equatable {
        var session: SessionID
        var expired: CursorExpired
    }

    private struct State {
        var deliveries: [Int] = []
        var changes: [SentChange] = []
        var expired: [SentExpired] = []
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    func deliver(_ answers: [StoreAnswer]) {
        state.withLock { $0.deliveries.append(answers.count) }
        answers.forEach { $0.give() }
    }

    /// How many answers were delivered together, each time.
    var deliveries: [Int] { state.withLock { $0.deliveries } }

    func notify(_ change: RecordChanged, to sessions: [SessionID]) {
        state.withLock { $0.changes += sessions.map { SentChange(session: $0, change: change) } }
    }

    func notify(_ expired: CursorExpired, to sessions: [SessionID]) {
        state.withLock { $0.expired += sessions.map { SentExpired(session: $0, expired: expired) } }
    }

    var expired: [SentExpired] { state.withLock { $0.expired } }

    func whenTaken(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(body) } }

    /// Lets the replays that wait go on.
    ///
    /// - Returns: Whether there were any.
    func handOver() -> Bool {
        let waiting = state.withLock { state in exchange(&state.waiting, with: []) }
        waiting.forEach { $0() }
        return !waiting.isEmpty
    }

    /// What was sent to a session so far, as "version change key".
    func sent(_ session: SessionID = 1, table: String? = nil) -> [String] {
        state.withLock { $0.changes }
            .filter { $0.session == session && (table == nil || $0.change.table == table) }
            .map { "\($0.change.version) \($0.change.change.rawValue) \($0.change.key)" }
    }

    var all: [SentChange] { state.withLock { $0.changes } }
}

extension JSON {
    /// A result's `key`.
    var key: String? { self["key"]?.stringValue }
    var version: Int64? { self["version"]?.int64Value }
    /// The keys of a query's page.
    var keys: [String] { self["records"]?.arrayValue?.compactMap(\.key) ?? [] }
    /// A JSON text in a test, which is one.
    static func text(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSON {
        try JSON(parsing: text)
    }
}
