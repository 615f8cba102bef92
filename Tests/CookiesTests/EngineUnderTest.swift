import Foundation
import HTTPRules
import Synchronization
import TaskKit

@testable import CookiesTasks

/// The store and its listeners without a bridge. Calls are carried out immediately.
final class EngineUnderTest {
    let clocks: TestClocks
    let directory: String
    let sink = ListSink()
    let log = Mutex<[String]>([])
    let service = CookieService(suffixes: SuffixHolder())
    var engine: CookieEngine
    var path: String { directory + "/cookies.sqlite" }

    /// - Parameter directory: A directory with cookies of an earlier engine; `nil` for a new one.
    init(
        settings: CookieSettings = CookieSettings(), clocks: TestClocks = TestClocks(), directory: String? = nil
    ) throws {
        self.clocks = clocks
        self.directory = try directory ?? Self.makeDirectory()
        let suffixes = try service.suffixes.load(settings)
        let store = try CookieStore(
            path: self.directory + "/cookies.sqlite", settings: settings, clocks: clocks.clocks, suffixes: suffixes,
            log: { _ in })
        engine = try CookieEngine(
            store: store, suffixes: suffixes, sink: sink, metrics: CookiesMetrics(),
            monotonic: clocks.clocks.monotonic)
    }

    static func makeDirectory() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// Calls a task as a session of uid 1000.
    @discardableResult
    func call<T: CookieTask>(_ task: T, _ options: JSON, session: UInt64 = 1, uid: UInt32 = 1000) throws -> JSON {
        let call = try begin(task, options, session: session, uid: uid)
        engine.carryOut([call])
        return try call.result()
    }

    /// Creates a call without carrying it out.
    func begin<T: CookieTask>(
        _ task: T, _ options: JSON, session: UInt64 = 1, uid: UInt32 = 1000,
        whenAnswered: @escaping @Sendable () -> Void = {}
    ) throws -> TestCall {
        let caller = Caller(session: SessionID(rawValue: session), uid: uid, gid: uid, pid: 1)
        let visitor = CookieVisitor(caller: caller, page: nil, showsSecrets: true)
        let request = try JSONCoding.decode(T.Request.self, from: options, unknownKeys: .refuse)
        return TestCall(uid: uid, whenAnswered: whenAnswered) { engine throws(BridgeError) in
            let outcome = try task.perform(request, visitor, &engine)
            if let profile = outcome.profile { engine.note(caller.session, uses: profile) }
            return outcome
        }
    }

    func set(_ line: String, profile: String? = nil, session: UInt64 = 1, uid: UInt32 = 1000) throws {
        var options: JSONObject = ["url": "https://a.example/", "line": .string(line)]
        if let profile { options["profile"] = .string(profile) }
        try call(SetTask(service: service), .object(options), session: session, uid: uid)
    }

    func names(profile: String = "default", uid: UInt32 = 1000) throws -> [String] {
        let got = try call(GetTask(service: service), ["profile": .string(profile)], uid: uid)
        return (got["cookies"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }.sorted()
    }
}

/// A call that stores its answer.
final class TestCall: CookieCall {
    let uid: UInt32
    let isCancelled = false
    let sizeBytes: Int
    private let whenAnswered: @Sendable () -> Void
    private let work: @Sendable (inout CookieEngine) throws(BridgeError) -> CookieOutcome
    private let answered = Mutex<Result<[UInt8], BridgeError>?>(nil)

    init(
        uid: UInt32, sizeBytes: Int = 0, whenAnswered: @escaping @Sendable () -> Void = {},
        work: @escaping @Sendable (inout CookieEngine) throws(BridgeError) -> CookieOutcome
    ) {
        (self.uid, self.sizeBytes, self.whenAnswered, self.work) = (uid, sizeBytes, whenAnswered, work)
    }

    func perform(_ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome { try work(&engine) }
    func answer(_ outcome: Result<[UInt8], BridgeError>) {
        answered.withLock { $0 = outcome }
        whenAnswered()
    }

    func result() throws -> JSON {
        let outcome = answered.withLock { $0 }
        return try JSON(parsing: outcome?.get() ?? [])
    }

    /// The code of the error; `nil` if the call has succeeded or is not answered.
    var errorCode: ErrorCode? {
        guard case .failure(let error) = answered.withLock({ $0 }) else { return nil }
        return error.code
    }
}

/// A sink that stores events by session.
final class ListSink: CookieSink {
    private let events = Mutex<[SessionID: [JSON]]>([:])
    private let delays = Mutex<[Duration]>([])

    func publish(_ event: JSON, to sessions: [SessionID]) {
        events.withLock { for session in sessions { $0[session, default: []].append(event) } }
    }
    func endLingering(after delay: Duration) { delays.withLock { $0.append(delay) } }
    func tidySoon() {}

    /// Returns and removes the delays after which lingering profiles are looked at.
    func takeDelays() -> [Duration] {
        delays.withLock { delays in
            defer { delays = [] }
            return delays
        }
    }

    /// Returns and removes the events of a session.
    func take(_ session: UInt64) -> [JSON] {
        events.withLock { $0.removeValue(forKey: SessionID(rawValue: session)) ?? [] }
    }
}
