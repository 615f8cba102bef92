import BridgeJSON
import BridgeMessage
import TaskRuntime
import PluginInterface

/// The connection to one process of a plugin: the requests to it and its own calls. Loop thread only.
final class PluginProcessLink {
    /// The origin of a request to the process.
    private enum Asked {
        /// A call of the runtime.
        case call(CallHandle)
        /// A question of the runtime to an interceptor.
        case question(CallHandle)
        /// A call of the runtime about the plugin itself. An unknown task is no fault here.
        case lifecycle(CallHandle)
        /// A request of the supervisor.
        case request((Result<[UInt8], BridgeError>) -> Void)

        /// The runtime's call; `nil` for a request of the supervisor.
        var handle: CallHandle? {
            switch self {
            case .call(let handle), .question(let handle), .lifecycle(let handle): handle
            case .request: nil
            }
        }
    }

    /// The output to the process.
    let output = OutputBuffer()
    /// Receives descriptors that are sent with the output; `nil` if the process is not connected.
    weak var descriptorReceiver: (any DescriptorReceiver)?
    /// The process's ends of streams.
    let streamHolder = StreamHolder()
    /// The calls that the process makes.
    private(set) lazy var own = PluginProcessOwnCalls(self, host)
    /// The plugin's host, which outlives this: the supervisor holds it until the last of its processes has ended.
    unowned(unsafe) let host: PluginProcessHost

    /// A slot for one request that has not been answered.
    private struct Slot {
        /// The id of the current or last request in the slot.
        var number = PluginProcessCallNumber(0)
        var asked: Asked?
        /// Whether no caller waits for the answer any more.
        var isCancelled = false
    }

    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var free: [Int] = []
    @exclusivity(unchecked) private var openCount = 0
    /// The number of requests that it has answered so far.
    private(set) var answerCount: UInt64 = 0
    /// The number of open requests that no caller waits for.
    private var cancelledCount = 0
    /// For each slot of the call table, the index in `slots` that was last used for its call. The entry in `slots`
    /// shows whether it is still in use.
    @exclusivity(unchecked) private var indexByCallSlot: [Int32] = []
    /// The limits of open requests, and of bytes that the process has not read, beyond which calls wait.
    private static let (maximumOpen, maximumUnreadBytes) = (65_536, 4 << 20)
    var isReady = false  // Whether it takes calls and notifications.
    /// The running report of earlier sessions to a process of a pool; `nil` if all have been reported.
    var sessionReport: SessionReport?
    var lag: Duration?  // The longest turn of its loop within the last five to ten seconds; `nil` if unreported.
    /// Called when a process of a pool has no work.
    var becameIdle: (() -> Void)?
    /// Called when a process of a pool takes its first end of a stream.
    var tookEnd: (() -> Void)?
    /// Called when a call that a process of a pool works on is cancelled.
    var callerLeft: (() -> Void)?
    /// Called with each message that is not an answer to an open request.
    var sentUnasked: (() -> Void)?
    /// Ends the process after it broke a rule. The argument states the fault, as the end of a sentence.
    var fault: ((String) -> Void)?

    init(_ host: PluginProcessHost) {
        self.host = host
        streamHolder.onChange = { [weak self] in self?.noteStreams() }
    }

    /// Whether the process works on no call.
    var isIdle: Bool { openCount == 0 }
    /// Whether no caller waits for any of its work.
    var isUnawaited: Bool { openCount == cancelledCount }
    /// Whether too many bytes wait to be read by the process, or too many requests to be answered.
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

    /// Returns the index in `slots` of an open request; `nil` if there is none with this id.
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

    /// Sends a call to the process.
    func send(
        _ handle: CallHandle, _ call: consuming OutgoingCall, isLifecycle: Bool = false, isQuestion: Bool = false
    ) {
        call.id = enter(
            isLifecycle ? .lifecycle(handle) : isQuestion ? .question(handle) : .call(handle), of: handle)
        MessageEncoder.call(call, to: output)
    }

    /// Cancels the work on a call.
    ///
    /// - Returns: Whether the process worked on it.
    func cancel(_ handle: CallHandle) -> Bool {
        guard handle.slot < indexByCallSlot.count, case let index = Int(indexByCallSlot[handle.slot]),
            slots.indices.contains(index), slots[index].asked?.handle == handle, !slots[index].isCancelled
        else { return false }
        slots[index].isCancelled = true
        cancelledCount += 1
        MessageEncoder.cancel(id: slots[index].number.value, to: output)
        return true
    }

    /// Ends the process because it still holds calls that have ended.
    func abandon(because reason: String) { if cancelledCount > 0 { fault?(reason) } }

    /// Sends a request that is no call of the runtime.
    ///
    /// - Parameter done: Called once at the end, with the result's text, unless ``forget(_:)`` is called first.
    /// - Returns: The request's id.
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

    /// Removes a request whose answer is no longer awaited.
    func forget(_ request: UInt64) {
        _ = leave(request)
        noteIdle()
    }

    func notify(_ event: String, _ data: JSON) {
        data.bytes.withUnsafeBytes { MessageEncoder.event(name: event, data: $0, to: output) }
    }

    /// Closes the connection to a process that has ended. All requests of the supervisor get this error.
    ///
    /// - Returns: The runtime's calls that it worked on.
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
        // The number is bounded by `maximumOpen`. Only requests of the supervisor end here.
        return left.compactMap { slot in
            if case .request(let done) = slot.asked { done(.failure(error)) }
            return slot.asked?.handle
        }
    }

    private func noteIdle() {
        if let becameIdle, isIdle { becameIdle() }
    }

    /// Notes that the process holds its first end of a stream, or has released its last one.
    private func noteStreams() {
        if streamHolder.movedAt != nil { tookEnd?() } else { noteIdle() }
        host.instance?.noteLessWork()
    }

    // MARK: From the process

    /// - Parameter isDeep: Whether it is nested deeper than a message may be; only an interceptor's decision may be.
    func receive(_ item: DecodedItem, isDeep: Bool = false) {
        if isDeep, !isDecision(item) {
            fault?("sent an invalid message: it is nested too deep")
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
            // The process receives events and publishes them with calls. Callbacks are handled elsewhere.
            case .event, .listening, .callback: break
            }
        // The channel has handled it.
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
        // The result is a part of a line that has been checked.
        host.instance?.reply(handle, result, isChecked: true)
    }

    private static let nothing = Array("{}".utf8)

    private func receive(_ progress: ProgressMessage) {
        guard let id = progress.callbackID.number, let handle = call(ofID: id) else { return }
        host.instance?.progress(handle, progress.value)
    }

    /// Returns the runtime's call that the process works on with this id; `nil` if there is none.
    func call(ofID id: UInt64) -> CallHandle? { index(of: id).flatMap { slots[$0].asked?.handle } }
}
