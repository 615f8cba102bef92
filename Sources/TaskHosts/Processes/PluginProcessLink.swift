import BridgeJSON
import BridgeMessage
import TaskRuntime
import PluginInterface

/// The conversation with one process of a plugin: what it was asked, and what it asks. Loop thread only.
final class PluginProcessLink {
    /// Whose answer comes under an id.
    private enum Asked {
        /// The runtime's call.
        case call(CallHandle)
        /// The runtime's question to an interceptor.
        case question(CallHandle)
        /// The runtime's call about the plugin itself: not to know it is no fault.
        case lifecycle(CallHandle)
        /// The supervisor's.
        case request((Result<[UInt8], BridgeError>) -> Void)

        /// The runtime's call; nil: it is none.
        var handle: CallHandle? {
            switch self {
            case .call(let handle), .question(let handle), .lifecycle(let handle): handle
            case .request: nil
            }
        }
    }

    /// What is said to the process.
    let output = OutputBuffer()
    /// Gets descriptors that go beside what is said; nil: the process is not spoken to.
    weak var descriptorReceiver: (any DescriptorReceiver)?
    /// The process's ends of streams.
    let streamHolder = StreamHolder()
    /// Calls that the process makes.
    private(set) lazy var own = PluginProcessOwnCalls(self, host)
    /// The plugin's host, which outlives this: the supervisor holds it until the last of its processes has ended.
    unowned(unsafe) let host: PluginProcessHost

    /// What was asked and not answered, each in a slot of its own.
    private struct Slot {
        /// The id of what is asked there, or was.
        var number = PluginProcessCallNumber(0)
        var asked: Asked?
        /// Whether no caller waits for the answer any longer.
        var isCancelled = false
    }

    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var free: [Int] = []
    @exclusivity(unchecked) private var openCount = 0
    /// How many it has ever answered.
    private(set) var answerCount: UInt64 = 0
    /// Of those that are open, the ones that no caller waits for.
    private var cancelledCount = 0
    /// By a call's slot in the call table, the index in `slots` that was last used for one of that slot: whether it
    /// still is, the entry in `slots` shows.
    @exclusivity(unchecked) private var indexByCallSlot: [Int32] = []
    /// From so many open ones on, and beyond so many bytes that the process has not read, calls wait.
    private static let (maximumOpen, maximumUnreadBytes) = (65_536, 4 << 20)
    var isReady = false  // It takes calls, and hears news.
    /// What it hears of the sessions that were there before it, of a pool; nil: it has heard of all.
    var sessionReport: SessionReport?
    var lag: Duration?  // The longest turn of its loop within the last five to ten seconds; nil: it has not said.
    /// Called whenever nothing is under way any longer, of a process of a pool.
    var becameIdle: (() -> Void)?
    /// Called when it holds an end of a stream from now on, of a process of a pool.
    var tookEnd: (() -> Void)?
    /// Called when the caller of a call that it works on has gone, of a process of a pool.
    var callerLeft: (() -> Void)?
    /// Called with each message that answers nothing.
    var sentUnasked: (() -> Void)?
    /// Ends the process, because it has done what it must not: the end of a sentence says what.
    var fault: ((String) -> Void)?

    init(_ host: PluginProcessHost) {
        self.host = host
        streamHolder.onChange = { [weak self] in self?.noteStreams() }
    }

    /// Whether the process works on no call.
    var isIdle: Bool { openCount == 0 }
    /// Whether it works on nothing that a caller waits for.
    var isUnawaited: Bool { openCount == cancelledCount }
    /// Whether more waits to be read by the process, or to be answered, than it should.
    var isFull: Bool { unreadBytes > Self.maximumUnreadBytes || openCount >= Self.maximumOpen }

    private func enter(_ asked: Asked) -> UInt64 {
        openCount += 1
        let index: Int
        if let last = free.popLast() {
            index = last
        } else {
            index = slots.count
            slots.append(Slot())
        }
        let number = PluginProcessCallNumber(index: index, after: slots[index].number)
        slots[index] = Slot(number: number, asked: asked)
        return number.value
    }

    /// The index in `slots` of an id, while it is open.
    private func index(of id: UInt64) -> Int? {
        let index = PluginProcessCallNumber(id).index
        guard index < slots.count, slots[index].number.value == id, slots[index].asked != nil else { return nil }
        return index
    }

    private func leave(_ id: UInt64) -> Asked? {
        guard let index = index(of: id) else { return nil }
        let asked = slots[index].asked
        slots[index].asked = nil
        free.append(index)
        openCount -= 1
        if openCount == Self.maximumOpen - 1, !isFull { host.drained() }
        if slots[index].isCancelled { cancelledCount -= 1 }
        return asked
    }

    private func enter(_ asked: Asked, of handle: CallHandle) -> UInt64 {
        let id = enter(asked)
        while indexByCallSlot.count <= handle.slot { indexByCallSlot.append(-1) }
        indexByCallSlot[handle.slot] = Int32(PluginProcessCallNumber(id).index)
        return id
    }

    // MARK: To the process

    /// Hands a call over.
    func send(
        _ handle: CallHandle, _ call: consuming OutgoingCall, isLifecycle: Bool = false, isQuestion: Bool = false
    ) {
        call.id = enter(
            isLifecycle ? .lifecycle(handle) : isQuestion ? .question(handle) : .call(handle), of: handle)
        MessageEncoder.call(call, to: output)
    }

    /// The work on the call is no longer wanted.
    ///
    /// - Returns: whether the process works on it.
    func cancel(_ handle: CallHandle) -> Bool {
        guard handle.slot < indexByCallSlot.count, case let index = Int(indexByCallSlot[handle.slot]),
            slots.indices.contains(index), slots[index].asked?.handle == handle, !slots[index].isCancelled
        else { return false }
        slots[index].isCancelled = true
        cancelledCount += 1
        MessageEncoder.cancel(id: slots[index].number.value, to: output)
        return true
    }

    /// It has lost calls that have ended.
    func giveUp(because reason: String) { if cancelledCount > 0 { fault?(reason) } }

    /// Asks something that is no call of the runtime's.
    ///
    /// - Parameter done: called once at the end, with the result's text, unless ``forget(_:)`` comes first.
    /// - Returns: the request's id.
    func request(
        _ task: String, _ options: JSON, _ done: @escaping (Result<[UInt8], BridgeError>) -> Void
    ) -> UInt64 {
        let id = enter(.request(done))
        JSON.string(task).bytes.withUnsafeBytes { name in
            options.bytes.withUnsafeBytes { options in
                var call = OutgoingCall(quotedTask: name, options: options)
                call.isOneLine = true
                call.id = id
                MessageEncoder.call(call, to: output)
            }
        }
        return id
    }

    /// No one waits for that answer any longer.
    func forget(_ request: UInt64) {
        _ = leave(request)
        noteIdle()
    }

    func notify(_ event: String, _ data: JSON) {
        data.bytes.withUnsafeBytes { MessageEncoder.event(name: event, data: $0, to: output) }
    }

    /// The process is no longer there: what was asked of it has no answer but this.
    ///
    /// - Returns: the runtime's calls that it worked on.
    func close(_ error: BridgeError) -> [CallHandle] {
        own.cancelAll()
        host.metrics.forget(self, in: host.instance?.metrics)
        becameIdle = nil
        tookEnd = nil
        callerLeft = nil
        let left = slots
        slots = []
        free = []
        (openCount, cancelledCount) = (0, 0)
        // At most as many as may be open, of which only the supervisor's end here.
        return left.compactMap { slot in
            if case .request(let done) = slot.asked { done(.failure(error)) }
            return slot.asked?.handle
        }
    }

    private func noteIdle() {
        if let becameIdle, isIdle { becameIdle() }
    }

    /// The process holds its first end of a stream, or none any longer.
    private func noteStreams() {
        if streamHolder.movedAt != nil { tookEnd?() } else { noteIdle() }
        host.instance?.noteLessWork()
    }

    // MARK: From the process

    /// - Parameter isDeep: whether it is nested deeper than a message may be, as an interceptor's decision may.
    func receive(_ item: DecodedItem, isDeep: Bool = false) {
        if isDeep, !isDecision(item) {
            fault?("sent what is no message: it is nested too deep")
            return
        }
        if let instance = host.instance { host.runtime.noteStep(of: instance) }
        if case .message(let message) = item, case .callback(let callback) = message.pointee {
            receive(callback)
        } else {
            receiveUnasked(item)
        }
    }

    private func receiveUnasked(_ item: DecodedItem) {
        sentUnasked?()
        switch item {
        case .call(let call): own.receive(call.pointee)
        case .message(let message):
            switch message.pointee {
            case .progress(let progress): receive(progress)
            case .cancel(let id): own.cancel(id)
            // It hears events; to publish one is a call. Callbacks are no matter of this.
            case .event, .listening, .callback: break
            }
        // The channel has seen to it.
        case .problem: break
        }
    }

    private func isDecision(_ item: DecodedItem) -> Bool {
        guard case .message(let message) = item, case .callback(let callback) = message.pointee,
            let index = callback.callbackID.number.flatMap(index(of:)), case .question = slots[index].asked
        else { return false }
        return true
    }

    private func receive(_ callback: CallbackMessage) {
        guard let id = callback.callbackID.number, let waiting = leave(id) else {
            sentUnasked?()
            return host.noteStrayAnswer(callback.callbackID)
        }
        answerCount &+= 1
        switch waiting {
        case .call(let handle), .question(let handle): answer(handle, callback)
        case .lifecycle(let handle):
            if callback.isValid, callback.result != nil {
                host.lifecycleSucceeded(handle)
            } else if callback.pluginError.code == .taskNotFound {
                Self.nothing.withUnsafeBytes { host.instance?.reply(handle, $0, isChecked: true) }
                break
            }
            answer(handle, callback)
        case .request(let done): done(callback.pluginOutcome)
        }
        noteIdle()
    }

    private func answer(_ handle: CallHandle, _ callback: CallbackMessage) {
        guard callback.isValid, let result = callback.result else {
            host.instance?.fail(handle, callback.pluginError)
            return
        }
        // A part of a line, which has been checked whole.
        host.instance?.reply(handle, result, isChecked: true)
    }

    private static let nothing = Array("{}".utf8)

    private func receive(_ progress: ProgressMessage) {
        guard let id = progress.callbackID.number, let handle = call(ofID: id) else { return }
        host.instance?.progress(handle, progress.value)
    }

    /// The runtime's call that the process works on under this id.
    func call(ofID id: UInt64) -> CallHandle? { index(of: id).flatMap { slots[$0].asked?.handle } }
}
