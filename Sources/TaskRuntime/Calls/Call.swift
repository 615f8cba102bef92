import BridgeJSON
import BridgeMessage

/// Who made a call, and so who gets its callback.
enum CallOrigin {
    /// A session. Without an id in the call nobody is told of its end.
    case session(Session)
    /// A plugin, in its own name or on behalf of the session whose call it works on.
    case plugin(name: String, onBehalfOf: Session?)
    /// The daemon itself: launch workers, starting and stopping plugins.
    case daemon
}

/// One call in flight. Reused from call to call: between ``CallTable/begin`` and ``CallTable/end`` it stands for one
/// call, and its handle says which. Loop thread only.
public final class Call {
    /// What has become of a call.
    enum State {
        /// Ended, or in the table's stock of unused ones.
        case free
        /// Its work has not begun.
        case waiting
        /// Its work has begun.
        case running
    }

    let slot: Int
    private(set) var generation: UInt32 = 0
    var state = State.free
    /// A number for people: `bridge.calls` shows it, `bridge.kill` takes it. Grows by one with each call.
    private(set) var number: UInt64 = 0

    private(set) var origin = CallOrigin.daemon
    private(set) var task: TaskEntry?
    /// The id as it came, for the callback; empty where none is wanted.
    private var idText: [UInt8] = []
    /// What the id means, where that differs from its text.
    private var idContent: [UInt8] = []
    private(set) var idHash: UInt64 = 0
    private(set) var isStringID = false
    /// The next call of the same session whose id has the same hash.
    var nextOfSameHash: Call?
    /// Whether the session's index of ids knows this call.
    var isIndexed = false

    /// The session that the call was addressed to, where the caller named one.
    private(set) var target: Session?
    private(set) var wantsProgress = false
    private(set) var nextSequence: UInt64 = 0
    private(set) var startedAt = RuntimeInstant(nanoseconds: 0)
    private(set) var deadline: RuntimeInstant?
    /// Its place in the heap of deadlines; -1: not there.
    var heapIndex = -1

    /// The call on whose behalf this one was made.
    private(set) var parent: CallHandle?
    /// Calls made on behalf of this one that may still be in flight.
    var children: [CallHandle] = []
    /// For calls from within the daemon: told of the end, once.
    private(set) var completion: ((CallOutcome) -> Void)?
    /// For calls from within the daemon: told of intermediate results.
    private(set) var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?

    /// The session that does the work, where a client provides the task, and the id under which it knows the call.
    var provider: (session: Session, id: UInt64)?
    /// Progress that waits because its reader is slow: only the newest.
    var heldProgress: (sequence: UInt64, value: [UInt8])?
    /// Options that wait for their turn, where the task's bound of calls at once was reached.
    var heldOptions: [UInt8] = []

    init(slot: Int) { self.slot = slot }

    /// Which call this stands for.
    public var handle: CallHandle { CallHandle(slot: slot, generation: generation) }
    /// The task's place among those of its plugin.
    public var taskIndex: Int { task?.index ?? 0 }
    /// Whether anybody waits for the callback.
    public var isOneWay: Bool { idText.isEmpty && completion == nil }
    /// Whether the caller takes intermediate results.
    public var takesProgress: Bool { wantsProgress }
    /// The session whose call this is, or on whose behalf it was made.
    public var session: Session? {
        switch origin {
        case .session(let session): session
        case .plugin(_, let session): session
        case .daemon: nil
        }
    }

    /// What is left until the deadline.
    public func remaining(at now: RuntimeInstant) -> Duration? { deadline?.since(now) }

    // MARK: From call to call

    struct Request {
        var origin: CallOrigin
        var task: TaskEntry
        var id: CallbackID?
        var wantsProgress: Bool
        var startedAt: RuntimeInstant
        var deadline: RuntimeInstant?
        var parent: CallHandle?
        var target: Session?
        var completion: ((CallOutcome) -> Void)?
        var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)?
    }

    func begin(_ request: Request, number: UInt64) {
        generation = generation == .max ? 1 : generation + 1
        state = .waiting
        self.number = number
        origin = request.origin
        task = request.task
        wantsProgress = request.wantsProgress
        startedAt = request.startedAt
        deadline = request.deadline
        parent = request.parent
        target = request.target
        completion = request.completion
        onProgress = request.onProgress
        if let id = request.id { setID(id) }
    }

    private func setID(_ id: CallbackID) {
        idText.append(contentsOf: id.text)
        idHash = id.hash
        isStringID = id.isString
        let isPlain = id.content.count == id.text.count - (id.isString ? 2 : 0)
        if !isPlain { idContent.append(contentsOf: id.content) }
    }

    /// Forgets the call, keeping the memory for the next one.
    func release() {
        origin = .daemon
        task = nil
        idText.removeAll(keepingCapacity: true)
        if !idContent.isEmpty { idContent.removeAll() }
        idHash = 0
        nextSequence = 0
        deadline = nil
        parent = nil
        target = nil
        if !children.isEmpty { children.removeAll() }
        completion = nil
        onProgress = nil
        provider = nil
        heldProgress = nil
        if !heldOptions.isEmpty { heldOptions = [] }
    }

    // MARK: Ids

    var hasID: Bool { !idText.isEmpty }

    func withIDText<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T { idText.withUnsafeBytes(body) }

    /// The id as text, for logs and lists.
    var idDescription: String { String(decoding: idText, as: UTF8.self) }

    func hasSameID(as id: CallbackID) -> Bool {
        guard id.hash == idHash, id.isString == isStringID else { return false }
        if !idContent.isEmpty { return idContent.elementsEqual(id.content) }
        return idText.withUnsafeBytes { text in
            let content = isStringID ? UnsafeRawBufferPointer(rebasing: text[1..<text.count - 1]) : text
            return content.count == id.content.count && content.elementsEqual(id.content)
        }
    }

    func takeSequence() -> UInt64 {
        defer { nextSequence += 1 }
        return nextSequence
    }
}
