import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import Glibc
import PluginInterface

/// Serves a plugin's library over a socket. Loop thread only; exists as long as the process.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class IsolatedPluginHost: PluginReceiver {
    /// The output to the daemon.
    let output = OutputBuffer()
    /// The plugin's library; `nil` before `plugin.hello`.
    @exclusivity(unchecked) var plugin: PluginLibrary?
    let path: String

    /// The calls that the plugin works on, by the daemon's ids.
    @exclusivity(unchecked) var working = OpenCalls()
    /// The names of the plugin's code, for the thread that watches the loop.
    let names = IsolatedPluginNames()
    /// The names of the tasks, in the order of their numbers.
    @exclusivity(unchecked) var taskNames: [[UInt8]] = []
    /// The task that was called last, which is usually called next too.
    @exclusivity(unchecked) private var lastTask = 0
    /// The options of the call that is on the stack. If the plugin returns them as the result, they need no check.
    @exclusivity(unchecked) private var currentOptions = UnsafeRawBufferPointer(start: nil, count: 0)
    let check = JSONCheck()
    /// The maximum length of a message, from the daemon. A longer result of the plugin ends one call, not the process.
    @exclusivity(unchecked) var messageBytes = 1 << 20
    var launchIndices: [String: UInt32] = [:]
    /// The names of the interceptors as JSON text, in the order of their numbers.
    var interceptorNames: [[UInt8]] = []
    /// The open questions to interceptors. Their answers may have one more level of nesting than a result.
    @exclusivity(unchecked) private var questions: Set<UInt64> = []
    /// The call of `plugin.stop`; `nil` before it is received.
    @exclusivity(unchecked) private var stop: UInt64?
    let callers = IsolatedPluginCallers()
    /// The calls that wait to begin.
    @exclusivity(unchecked) var waiting = CallBacklog()
    /// The number of calls that have begun in this turn and were not answered immediately.
    @exclusivity(unchecked) var begun = 0
    /// The calls that the plugin makes.
    private(set) lazy var own = IsolatedPluginCalls(self)
    /// The metrics that the plugin sets.
    let metrics = IsolatedPluginMetrics()

    private init(_ path: String) {
        self.path = path
        super.init()
    }

    /// Serves a library until the daemon closes the socket, which ends the process.
    @LoopActor
    static func serve(_ path: String, over descriptor: Int32) throws(SystemError) {
        let host = IsolatedPluginHost(path)
        // The daemon limits the lines that it sends; this limit only protects against a broken daemon.
        let channel = try MessageChannel(
            UnixSocket(adopting: descriptor), lineBytes: 256 << 20, output: host.output)
        channel.receive = { host.receive($0) }
        channel.onDescriptor = { host.own.add(PassedDescriptor(adopting: $0.release())) }
        channel.ended = { _ in
            fflush(nil)
            _exit(0)
        }
        Self.channel = channel
        EventLoop.atTurnEnd { host.beginWaiting() }
        host.metrics.publish { [host] metrics in host.notify("plugin.metrics", metrics) }
        PluginHolders.watch(isPlugins: true)
    }

    /// Keeps the channel until the process ends.
    @LoopActor private static var channel: MessageChannel?

    // MARK: From the daemon

    private func receive(_ item: DecodedItem) {
        switch item {
        case .call(let call): receive(call.pointee)
        case .message(let message):
            switch message.pointee {
            case .callback(let callback): own.receive(callback)
            case .progress(let progress): own.receive(progress)
            case .cancel(let id): cancel(id)
            case .event(let event): hear(event)
            case .listening: break
            }
        case .problem: break
        }
    }

    private func receive(_ call: CallMessage) {
        guard let id = call.callbackID?.number else { return }
        if let index = index(ofTask: call.task), plugin != nil { return begin(call, id, task: index) }
        switch String(decoding: call.task, as: UTF8.self) {
        // A client's call has a caller and names a task. Of the daemon's own requests only questions have a caller.
        case let name where !call.caller.isEmpty && name != "plugin.intercept":
            fail(id, BridgeError(.taskNotFound, "the plugin has no task \(name)"))
        case "plugin.hello": hello(id, call.options)
        case "plugin.ping": answer(id, "{}")
        case let name: serveLifecycle(name, call, id)
        }
    }

    private func index(ofTask name: UnsafeRawBufferPointer) -> Int? {
        if lastTask < taskNames.count, name.isEqual(to: taskNames[lastTask]) { return lastTask }
        guard let index = taskNames.firstIndex(where: name.isEqual) else { return nil }
        lastTask = index
        return index
    }

    private func serveLifecycle(_ name: String, _ call: CallMessage, _ id: UInt64) {
        guard let plugin else { return fail(id, BridgeError(.taskNotFound, "plugin.hello comes first")) }
        guard let function = PluginFunction(name) else {
            return fail(id, BridgeError(.taskNotFound, "the plugin has no task \(name)"))
        }
        var index: UInt32 = 0
        switch name {
        case "plugin.launch":
            let worker = (try? JSON(parsing: call.options))?["worker"]?.stringValue ?? ""
            guard let found = launchIndices[worker] else {
                return fail(id, BridgeError(.optionsInvalid, "there is no launch worker \(worker)"))
            }
            index = found
        case "plugin.intercept":
            guard let found = interceptor(askedBy: call.options), plugin.canIntercept else {
                return fail(id, BridgeError(.taskNotFound, "the plugin has no such interceptor"))
            }
            index = found
            questions.insert(id)
        case "plugin.check": index = UInt32(TRESTLE_RECONFIGURE_CHECK)
        case "plugin.reconfigure": index = UInt32(TRESTLE_RECONFIGURE_TAKE)
        default: break
        }
        if name == "plugin.stop" {
            stop = id
            endStreamUses()
        }
        working.insert(id)
        guard let pointer = plugin.pointer(to: function) else {
            return Array("{}".utf8).withUnsafeBytes { replied(id, $0) }
        }
        send(PluginRequest(call, id, index), to: pointer)
    }

    func send(_ call: PluginRequest, to function: PluginFunction.Pointer?, task: Int? = nil) {
        guard let plugin, let function else { return }
        var request = trestle_request(
            size: UInt32(MemoryLayout<trestle_request>.size), abi: TRESTLE_ABI, call: call.id, number: call.number,
            flags: call.wantsProgress ? TRESTLE_REQUEST_PROGRESS : 0, time_remaining_ns: call.remainingNanoseconds,
            options: trestle_bytes(call.options), caller: callers.descriptor(call.caller))
        currentOptions = call.options
        let holder = hold(task)
        function(plugin.table.pointee.context, &request)
        release(to: holder)
        currentOptions = UnsafeRawBufferPointer(start: nil, count: 0)
        callers.freeRetired()
    }

    private func cancel(_ id: CallbackID) {
        guard let id = id.number, let plugin, working.contains(id) else { return }
        if endWaiting(id) { return }
        plugin.table.pointee.cancel?(plugin.table.pointee.context, id, UInt32(TRESTLE_CANCEL_CALLER))
    }

    private func hear(_ event: EventMessage) {
        if event.name.elementsEqual("plugin.tasks".utf8) { return takeMarks(event.data) }
        guard let plugin, let function = plugin.table.pointee.session, event.name.elementsEqual("plugin.session".utf8),
            let data = try? JSON(parsing: event.data), let caller = data["caller"],
            let change = Self.changes[data["change"]?.stringValue ?? ""]
        else { return }
        caller.bytes.withUnsafeBytes { function(plugin.table.pointee.context, change, callers.descriptor($0)) }
        if change == UInt32(TRESTLE_SESSION_CLOSED) { callers.forget(caller) }
        callers.freeRetired()
    }

    private static let changes: [String: UInt32] = [
        "opened": UInt32(TRESTLE_SESSION_OPENED), "closed": UInt32(TRESTLE_SESSION_CLOSED),
        "background": UInt32(TRESTLE_SESSION_BACKGROUND), "foreground": UInt32(TRESTLE_SESSION_FOREGROUND),
    ]

    // MARK: To the daemon

    func answer(_ id: UInt64, _ result: String) {
        Array(result.utf8).withUnsafeBytes { write(id, $0) }
    }

    private func write(_ id: UInt64, _ result: UnsafeRawBufferPointer) {
        MessageEncoder.callback(number: id, result: result, to: output)
    }

    override func replied(_ id: trestle_call, _ result: UnsafeRawBufferPointer) {
        let isDecision = !questions.isEmpty && questions.contains(id)
        forget(id)
        let isOptions =
            result.baseAddress == currentOptions.baseAddress && result.count == currentOptions.count && !result.isEmpty
        guard result.count <= messageBytes else {
            return fail(id, .resultTooLarge(result.count, messageBytes: messageBytes))
        }
        // A result of invalid JSON would make the message invalid. It is the plugin's fault, and ends only this call.
        if !isOptions, let fault = check.fault(in: result, levelsAround: isDecision ? 0 : 1) {
            return fail(id, BridgeError(.replyInvalid, "the plugin sent a reply that is not valid JSON: \(fault)"))
        }
        write(id, result)
    }

    override func failed(_ id: trestle_call, _ error: BridgeError) {
        forget(id)
        fail(id, error)
    }

    /// Removes a call that ends. The daemon counts second answers and answers to unknown calls.
    func forget(_ id: UInt64) {
        // The process ends after the answer to `plugin.stop`.
        if id == stop, let changed = metrics.takeChanges() { notify("plugin.metrics", changed) }
        working.remove(id)
        if !questions.isEmpty { questions.remove(id) }
    }

    func fail(_ id: UInt64, _ error: BridgeError) {
        let error = sendable(error)
        Array("\(id)".utf8).withUnsafeBytes { MessageEncoder.callback(id: $0, error: error, to: output) }
    }

    override func progressed(_ id: trestle_call, _ value: UnsafeRawBufferPointer) {
        guard working.contains(id) else { return }
        guard value.count <= messageBytes else {
            return logged(
                UInt32(TRESTLE_LOG_WARNING), "it sent progress of \(value.count) bytes, longer than a message", id)
        }
        if let fault = check.fault(in: value) {
            return logged(UInt32(TRESTLE_LOG_WARNING), "it sent progress that is not valid JSON: \(fault)", id)
        }
        Array("\(id)".utf8).withUnsafeBytes {
            // The daemon numbers progress messages.
            MessageEncoder.progress(id: $0, value: value, sequence: 0, to: output)
        }
    }

    override func logged(_ level: UInt32, _ message: String, _ call: trestle_call) {
        let names = ["error", "warning", "notice", "info", "debug"]
        var line: JSONObject = [
            "level": .string(names[Int(min(level, UInt32(TRESTLE_LOG_DEBUG)))]),
            "message": .string(message.cut(toBytes: PluginProtocol.logLineBytes)),
        ]
        if call != 0 { line["call"] = .number(JSONNumber(call)) }
        notify("plugin.log", .object(line))
    }

    /// Calls a task that only plugin processes may call.
    func notify(_ task: String, _ options: JSON) {
        JSON.string(task).bytes.withUnsafeBytes { name in
            options.bytes.withUnsafeBytes { options in
                var call = OutgoingCall(quotedTask: name, options: options)
                call.isOneLine = true
                MessageEncoder.call(call, to: output)
            }
        }
    }

    override func holderName(_ task: Int?) -> String { names.name(task) }

    override func noteHold(_ hold: LoopHold) {
        let sentence = hold.sentence(threadOf: "plugin")
        if hold.isOver { return logged(UInt32(TRESTLE_LOG_WARNING), sentence, 0) }
        // The loop, which sends messages to the daemon, is blocked. Lines on standard error are logged as warnings too.
        let line = Array((sentence + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }

    override func published(_ event: PluginEvent) { publish(event) }

    override func called(_ request: UnsafePointer<trestle_outgoing_call>) -> trestle_call { own.make(request) }

    override func called(_ use: PluginStreamUse) -> trestle_call { IsolatedPluginStreams(host: self).make(use) }

    override func cancelled(_ call: trestle_call) { own.cancel(call) }

    override func declared(_ metric: MetricDeclaration) throws(MetricRefusal) -> UInt32 {
        try metrics.declare(metric)
    }

    override func setMetric(_ number: UInt32, to value: Double) { metrics.set(number, value) }

    override func addToMetric(_ number: UInt32, _ amount: Double) { metrics.add(number, amount) }
}
