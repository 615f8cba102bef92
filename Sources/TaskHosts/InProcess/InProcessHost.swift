import BridgeJSON
import BridgeMessage
import CTaskPlugin
import EventLoop
import PluginInterface
import Synchronization
import TaskRuntime

/// Runs a plugin inside the daemon: every request is a plain function call into its library, on the loop thread.
///
/// Never deallocated: the plugin holds the table that points here until the process ends.
///
/// docs/architecture.md explains `@exclusivity(unchecked)`.
final class InProcessHost: PluginReceiver, TaskHost {
    let isolation = "none"
    let log: HostLog

    private let library: PluginLibrary
    /// Its function for calls of tasks; `nil` if it has none.
    private let taskFunction: PluginFunction.Pointer?
    private let callers: CallerDescriptors
    /// Not retained: the runtime outlives its hosts.
    private let unownedRuntime: Unmanaged<TaskRuntime>
    var runtime: TaskRuntime { unownedRuntime.takeUnretainedValue() }
    /// The plugin's instance in the runtime; `nil` before the plugin has been added.
    private(set) var instance: PluginInstance?
    /// The plugin's metrics, for any thread. Set before the plugin can make calls.
    private var metrics: PluginMetrics?
    /// The same instance, used with every call without counting a reference.
    @exclusivity(unchecked) private var unownedInstance: Unmanaged<PluginInstance>?
    /// The options of the request that is on the stack. If the plugin returns them as the result, they need no second
    /// check.
    @exclusivity(unchecked) private var currentOptions = UnsafeRawBufferPointer(start: nil, count: 0)

    /// The answers to its calls about streams.
    private lazy var streamAnswers = StreamAnswers(self)
    /// The number of functions of the plugin on the stack: one can lead to another.
    @exclusivity(unchecked) private var depth = 0

    init(_ library: PluginLibrary, runtime: TaskRuntime, log: HostLog) {
        self.library = library
        taskFunction = library.pointer(to: .call)
        unownedRuntime = .passUnretained(runtime)
        self.log = log
        callers = CallerDescriptors(runtime)
        super.init()
    }

    /// Connects the host to the plugin's instance. From here on the plugin can answer.
    func attach(_ instance: PluginInstance) {
        self.instance = instance
        unownedInstance = .passUnretained(instance)
        metrics = instance.metrics
        holderNames.withLock { $0 = (instance.name, instance.manifest.tasks.map(\.name)) }
        library.table.pointee.attach(library.table.pointee.context, vtable)
    }

    // MARK: To the plugin

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        if case .stop = work { endStreams() }
        let outer = currentOptions
        currentOptions = options
        depth += 1
        let terms = unownedRuntime._withUnsafeGuaranteedRef { $0.terms(of: call) }
        var request = trestle_request(
            size: UInt32(MemoryLayout<trestle_request>.size), abi: TRESTLE_ABI, call: terms.handle.rawValue,
            number: work.index, flags: Self.flags(of: terms),
            time_remaining_ns: terms.nanosecondsLeft == .max ? -1 : Int64(clamping: terms.nanosecondsLeft),
            options: trestle_bytes(
                data: options.baseAddress?.assumingMemoryBound(to: CChar.self), size: options.count),
            caller: callers.descriptor(for: call, terms.callerRevision.session, terms.callerRevision.revision))
        let holder = hold(work.task)
        if case .task = work, let function = taskFunction {
            function(library.table.pointee.context, &request)
        } else if !send(work, &request) {
            instance?.reply(terms.handle, Self.nothing, isChecked: true)
        }
        release(to: holder)
        currentOptions = outer
        leave()
    }

    /// Notes that a function of the plugin has returned.
    private func leave() {
        depth -= 1
        if depth == 0 { callers.freeRetired() }
    }

    @inline(never)
    private func endStreams() {
        streamAnswers.giveWaiting()
        endStreamUses()
    }

    @inline(__always)
    private static func flags(of call: CallTerms) -> UInt32 {
        var flags: UInt32 = 0
        if call.takesProgress { flags |= TRESTLE_REQUEST_PROGRESS }
        if call.isOneWay { flags |= TRESTLE_REQUEST_ONE_WAY }
        return flags
    }

    /// The assumed answer of a function that the plugin does not have.
    private static var nothing: UnsafeRawBufferPointer { literal("{}") }

    /// Calls the function for this work; returns false if the plugin does not have it.
    @inline(never)
    private func send(_ work: PluginWork, _ request: UnsafePointer<trestle_request>) -> Bool {
        guard let function = library.pointer(to: PluginFunction(work)) else { return false }
        function(library.table.pointee.context, request)
        return true
    }

    func cancel(_ call: CallHandle, reason: CancelReason) {
        library.table.pointee.cancel?(library.table.pointee.context, call.rawValue, reason.rawValue)
    }

    func notify(_ change: SessionChange, _ session: Session) {
        guard let function = library.table.pointee.session, change == .closed || !library.hearsOnlyCallers else {
            return
        }
        depth += 1
        let holder = hold()
        function(library.table.pointee.context, change.rawValue, callers.descriptor(of: session))
        release(to: holder)
        if change == .closed { callers.forget(session) }
        leave()
    }

    func noteMarks() { taskMarks.set(instance?.marks.map(\.rawValue) ?? []) }

    func end() {
        endWatches()
        endStreamUses()
    }

    // MARK: Holders of the loop thread

    /// The names of the plugin and its tasks. Set with ``attach(_:)``, before the plugin can hold the loop thread.
    private let holderNames = Mutex((plugin: "", tasks: [String]()))
    /// The times of half a second or more for which it held the loop thread.
    private var holds = LagMeter()

    override func holderName(_ task: Int?) -> String {
        holderNames.withLock { names in
            task.flatMap { names.tasks.indices.contains($0) ? names.tasks[$0] : nil } ?? "the plugin \(names.plugin)"
        }
    }

    override func noteHold(_ hold: LoopHold) {
        log.write(level: UInt32(TRESTLE_LOG_WARNING), hold.sentence(threadOf: "daemon"))
        if hold.isOver { holds.note(hold.duration, at: MonotonicInstant.now()) }
    }

    var lag: Duration? { holds.longest(at: MonotonicInstant.now()) }

    // MARK: From the plugin

    override func replied(_ call: trestle_call, _ result: UnsafeRawBufferPointer) {
        let isChecked =
            result.baseAddress == currentOptions.baseAddress && result.count == currentOptions.count && !result.isEmpty
        unownedInstance?._withUnsafeGuaranteedRef {
            $0.reply(CallHandle(rawValue: call), result, isChecked: isChecked)
        }
    }

    override func failed(_ call: trestle_call, _ error: BridgeError) {
        instance?.fail(CallHandle(rawValue: call), error)
    }

    override func progressed(_ call: trestle_call, _ value: UnsafeRawBufferPointer) {
        instance?.progress(CallHandle(rawValue: call), value)
    }

    override func writes(level: UInt32) -> Bool { log.writes(level: level) }

    override func logged(_ level: UInt32, _ text: String, _ call: trestle_call) {
        log.write(level: level, text, of: call == 0 ? nil : CallHandle(rawValue: call), in: runtime)
    }

    override func published(_ event: PluginEvent) {
        let data = event.data.isEmpty ? Array("null".utf8) : event.data
        let fault = data.withUnsafeBytes {
            instance?.publish(
                OutgoingEvent(
                    event.name, data: $0, to: event.sessions, isDirect: event.isDirect, isRetained: event.isRetained,
                    isForgotten: event.isForgotten))
        }
        if let fault = fault ?? nil { log.write(level: UInt32(TRESTLE_LOG_WARNING), fault) }
    }

    override func called(_ request: UnsafePointer<trestle_outgoing_call>) -> trestle_call {
        instance.map { PluginBridgeCall.make(request, $0, runtime, self).rawValue } ?? 0
    }

    override func called(_ use: PluginStreamUse) -> trestle_call {
        guard let instance else {
            use.answer.give(.failure(BridgeError(.pluginUnavailable, "the plugin is not loaded yet")))
            return 0
        }
        return runtime.call(PluginStreamCall(use, streamAnswers), by: instance).rawValue
    }

    override func cancelled(_ call: trestle_call) {
        runtime.cancelPluginCall(CallHandle(rawValue: call))
    }

    override func declared(_ metric: MetricDeclaration) throws(MetricRefusal) -> UInt32 {
        guard let metrics else { return 0 }
        return UInt32(try metrics.declare(metric))
    }

    override func setMetric(_ number: UInt32, to value: Double) { metrics?.set(Int(number), value) }

    override func addToMetric(_ number: UInt32, _ amount: Double) { metrics?.add(Int(number), amount) }
}

extension PluginWork {
    /// The number of the called task; `nil` for other work.
    fileprivate var task: Int? { if case .task(let index) = self { index } else { nil } }

    /// The number of the task, launch worker or interceptor, or the mode of a reconfiguration.
    fileprivate var index: UInt32 {
        switch self {
        case .task(let index), .launch(let index), .intercept(let index): UInt32(index)
        case .reconfigure: UInt32(TRESTLE_RECONFIGURE_TAKE)
        case .checkConfiguration: UInt32(TRESTLE_RECONFIGURE_CHECK)
        case .configure, .start, .describe, .stop, .saveSessions, .restoreSessions: 0
        }
    }
}

extension PluginFunction {
    /// The function for a piece of work.
    @inline(__always)
    fileprivate init(_ work: PluginWork) {
        self =
            switch work {
            case .task: .call
            case .configure: .configure
            case .checkConfiguration, .reconfigure: .reconfigure
            case .start: .start
            case .launch: .launch
            case .intercept: .intercept
            case .describe: .describe
            case .stop: .stop
            case .saveSessions: .saveSessions
            case .restoreSessions: .restoreSessions
            }
    }
}
