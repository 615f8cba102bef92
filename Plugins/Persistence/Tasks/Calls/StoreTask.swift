import TaskKit

/// A task that is executed on one of the store's lanes.
///
/// It is raw, so that a call takes its position in its session's order before the next one begins. Also, the options
/// and the result may each be a megabyte: this way they cost the loop thread only a copy.
protocol StoreTask: RawTask {
    associatedtype Request: Decodable & Sendable
    static var lane: StoreLane { get }
    static var effect: BatchPlanner.Effect { get }
    /// Whether the session may have a watch after a call.
    static var mayWatch: Bool { get }
    /// The maximum length of a call's options in bytes; `nil` for 65,536, enough to name a record. The daemon refuses
    /// longer options before they reach a lane, where other users would wait for their decoding.
    static var optionBytes: Int? { get }
    var store: StoreQueue { get }

    /// Does the work, on the lane's thread. Calls that it submits to the store are executed after its own answer was
    /// sent.
    func perform(_ request: Request, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork

    /// Reads options of a common form quickly; `nil` if they have another form, valid or not. The result equals that of
    /// decoding.
    ///
    /// - Parameter options: JSON, which the daemon has checked.
    static func quickRequest(_ options: [UInt8]) -> Request?

    /// Does the work, on the lane's thread. It is a requirement only so that each task has its own specialised code for
    /// it.
    ///
    /// - Throws: `options.invalid`. An unknown option is rejected: if a misspelt `ifVersion` or `where` were ignored,
    ///   records could be lost.
    func carryOut(_ options: StoreOptions<Request>, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork
}

/// The options of a call on their way to its lane.
enum StoreOptions<Request: Sendable>: Sendable {
    /// The decoded request.
    case request(Request)
    /// The text to decode on the lane.
    case text([UInt8])
}

extension StoreTask {
    /// A page may use its own records. The policy protects other records with the verb `store`.
    static var settings: TaskSettings {
        TaskSettings(isPublic: true, optionPermissions: ["namespace": .store], optionBytes: optionBytes)
    }
    /// The task checks its options itself, on the lane's thread, where this delays no other user, and more strictly
    /// than a schema can.
    static var checksOptions: Bool { true }
    static var effect: BatchPlanner.Effect { .read }
    static var mayWatch: Bool { false }
    static var optionBytes: Int? { TaskSettings.anyOptionBytes }

    static func quickRequest(_ options: [UInt8]) -> Request? { nil }

    func run(_ options: RawSpan, _ call: Call, _ reply: consuming Reply) {
        let text = options.withUnsafeBytes { Array($0) }
        store.take(BridgeCall(self, Self.options(of: text), sizeBytes: text.count, call, reply))
    }

    /// Reads short options of a common form. Loop thread.
    static func options(of text: [UInt8]) -> StoreOptions<Request> {
        guard text.count <= Limits.optionsReadAtOnceBytes, let request = quickRequest(text) else { return .text(text) }
        return .request(request)
    }

    func carryOut(_ options: StoreOptions<Request>, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork {
        switch options {
        case .request(let request): try perform(request, caller, visit)
        case .text(let text): try perform(Self.request(of: text), caller, visit)
        }
    }

    private static func request(of text: [UInt8]) throws(BridgeError) -> Request {
        do throws(JSONMismatch) {
            return try JSONCoding.decode(Request.self, text: text, unknownKeys: .refuse)
        } catch {
            throw BridgeError(error)
        }
    }
}

/// A task that changes records.
protocol WriteTask: StoreTask {
    /// Does the work, in a transaction that other calls may share. If it throws a `BridgeError`, it has changed
    /// nothing.
    ///
    /// - Returns: The result as JSON.
    func perform(_ request: Request, _ caller: Caller, _ access: StoreAccess) throws -> [UInt8]
}

extension WriteTask {
    static var lane: StoreLane { .commits }
    static var effect: BatchPlanner.Effect { .write }

    func perform(_ request: Request, _ caller: Caller, _ visit: StoreVisit) throws -> StoreWork {
        guard let access = visit.access else { preconditionFailure("\(Self.name) was sent to a reader.") }
        return .result(try perform(request, caller, access))
    }
}

/// A client's call of a task.
private final class BridgeCall<Task: StoreTask>: StoreCall {
    let sizeBytes: Int
    private let task: Task
    private let options: StoreOptions<Task.Request>
    private let call: Call
    private let reply: HeldReply

    init(
        _ task: Task, _ options: StoreOptions<Task.Request>, sizeBytes: Int, _ call: Call, _ reply: consuming Reply
    ) {
        (self.task, self.options, self.sizeBytes, self.call) = (task, options, sizeBytes, call)
        self.reply = HeldReply(reply)
    }

    var lane: StoreLane { Task.lane }
    var effect: BatchPlanner.Effect { Task.effect }
    var mayWatch: Bool { Task.mayWatch }
    var session: SessionID { call.caller.session }
    var user: UInt32 { call.caller.uid }
    var isCancelled: Bool { call.isCancelled }

    func carryOut(_ visit: StoreVisit) throws -> StoreWork { try task.carryOut(options, call.caller, visit) }

    func answer(_ outcome: Result<[UInt8], BridgeError>) { reply.give(outcome) }
}
