public import BridgeJSON
public import BridgeMessage
public import CTaskPlugin
public import EventLoop
import Glibc
import Synchronization

/// An event that a plugin sends.
public struct PluginEvent: Sendable {
    /// Its name.
    public let name: String
    /// JSON, not checked; empty: null.
    public let data: [UInt8]
    /// Only to these; nil: to all who subscribed.
    public let sessions: [UInt64]?
    /// To those sessions whether they subscribed or not.
    public let isDirect: Bool
    /// Kept for later subscribers.
    public let isRetained: Bool
    /// Not sent: what is kept under the name is kept no longer.
    public let isForgotten: Bool

    init(_ event: UnsafePointer<trestle_event>) {
        name = event.pointee.name.string
        data = Array(event.pointee.data.buffer)
        sessions = event.pointee.sessions.map {
            Array(UnsafeBufferPointer(start: $0, count: event.pointee.session_count))
        }
        isDirect = event.pointee.flags & TRESTLE_EVENT_DIRECT != 0
        isRetained = event.pointee.flags & TRESTLE_EVENT_RETAIN != 0
        isForgotten = event.pointee.flags & TRESTLE_EVENT_FORGET != 0
    }
}

/// Receives what a plugin sends: the other side of the plugin interface, in the daemon's own process and in the
/// plugin's.
///
/// Everything that the plugin sends takes effect on the loop thread, in the order in which it was sent: immediately
/// where the loop thread sends it and nothing waits before it, else in its turn; see ``PluginInbox``. So progress that
/// a thread sends comes before an answer that the loop thread gives when it has learned that the thread is done.
/// Metrics are no messages: they take effect where they are set, before whatever is sent behind that.
///
/// Never deallocated: the plugin holds the table that points here until the process ends. A class and no protocol,
/// because a C function that is given its address calls it without counting a reference.
open class PluginReceiver {
    /// The functions that the plugin is offered.
    public let vtable: UnsafeMutablePointer<trestle_host>
    private let inbox = PluginInbox()
    /// What ``LoopHolder`` says while the plugin's code runs, with a task's number in it or none.
    final let holder: UInt32
    private let holderCell = LoopHolder.cell
    /// The descriptors and the timers that the plugin waits for.
    final let watches = PluginWatches()
    /// What stands between calls and its tasks.
    public final let taskMarks = PluginTaskMarks()
    /// Its calls about streams.
    final let streamUses = PluginStreamUses()
    /// The thread that made this.
    private let loopThread = pthread_self()

    /// On the loop thread.
    public init() {
        precondition(LoopActor.isOnLoopThread, "A plugin's receiver is made on the loop thread.")
        vtable = .allocate(capacity: 1)
        holder = PluginHolders.nextHolder
        // Never released; see above.
        vtable.initialize(to: HostVTable.make(context: Unmanaged.passRetained(self).toOpaque()))
        PluginHolders.add(self)
    }

    // MARK: Who holds the loop thread

    /// The plugin's code runs from now on, up to ``release(to:)``. Loop thread.
    ///
    /// - Parameter task: the number of the task that runs; nil: it is not known.
    /// - Returns: who held the thread before.
    @inline(__always)
    public final func hold(_ task: Int? = nil) -> UInt32 {
        let before = holderCell.pointee.load(ordering: .relaxed)
        let part = task.map { UInt32(truncatingIfNeeded: $0 + 1) & PluginHolders.taskMask } ?? 0
        holderCell.pointee.store(holder | part, ordering: .releasing)
        return before
    }

    /// The plugin's code has returned. Loop thread.
    @inline(__always)
    public final func release(to before: UInt32) { holderCell.pointee.store(before, ordering: .relaxed) }

    /// Names the code that holds the thread. Any thread.
    ///
    /// - Parameter task: the number of the task that runs; nil: it is not known.
    open func holderName(_ task: Int?) -> String { "the plugin" }
    /// The plugin has held the thread for long: on another thread while it goes on, on the loop thread when it is over.
    open func noteHold(_ hold: LoopHold) {}

    // MARK: What was sent; loop thread, but for what says otherwise

    /// The plugin ends a call with a result. `result` may be that of the options that it was handed.
    open func replied(_ call: trestle_call, _ result: UnsafeRawBufferPointer) {}
    /// The plugin ends a call with an error.
    open func failed(_ call: trestle_call, _ error: BridgeError) {}
    /// The plugin sends an intermediate result.
    open func progressed(_ call: trestle_call, _ value: UnsafeRawBufferPointer) {}
    /// The plugin writes a line to the log.
    open func logged(_ level: UInt32, _ text: String, _ call: trestle_call) {}
    /// The plugin sends an event.
    open func published(_ event: PluginEvent) {}
    /// The plugin calls a task.
    ///
    /// - Returns: the call's handle.
    open func called(_ request: UnsafePointer<trestle_outgoing_call>) -> trestle_call { 0 }
    /// The plugin makes a call about a stream.
    ///
    /// - Returns: the call's handle.
    open func called(_ use: PluginStreamUse) -> trestle_call { 0 }
    /// The plugin ends a call that it has made.
    open func cancelled(_ call: trestle_call) {}
    /// Whether lines of this level are written. Any thread.
    open func writes(level: UInt32) -> Bool { true }
    /// The plugin declares a metric. Any thread.
    ///
    /// - Returns: its number.
    /// - Throws: ``MetricRefusal`` where it cannot be published.
    open func declared(_ metric: MetricDeclaration) throws(MetricRefusal) -> UInt32 { 0 }
    /// The plugin sets a metric. Any thread.
    open func setMetric(_ number: UInt32, to value: Double) {}
    /// The plugin adds to a metric. Any thread.
    open func addToMetric(_ number: UInt32, _ amount: Double) {}

    /// The plugin has stopped: it no longer gets reports of descriptors and timers. Loop thread.
    public final func endWatches() { LoopActor.assumeIsolated(passing: watches) { $0.endAll() } }

    /// The plugin is about to stop, or has stopped: its calls about streams end for it. Loop thread.
    public final func endStreamUses() {
        let holder = hold()
        streamUses.endAll()
        release(to: holder)
    }

    // MARK: In order

    /// As `LoopActor.isOnLoopThread`, without the way to the loop's own state: this comes twice with every call.
    @inline(__always)
    final var isOnLoopThread: Bool { pthread_self() == loopThread }

    /// Whether what is sent here and now takes effect immediately.
    @inline(__always)
    final var takesNow: Bool { isOnLoopThread && inbox.isEmpty }

    /// Has a message take effect in its turn. Any thread.
    final func append(_ message: PluginMessage) {
        inbox.append(message)
        EventLoop.post(Self.takeTurn, Unmanaged.passUnretained(self).toOpaque(), as: holder)
    }

    private static let takeTurn: @convention(c) (UnsafeMutableRawPointer?) -> Void = { address in
        // The address given above, of an object that is never deallocated.
        guard let address else { return }
        let receiver = Unmanaged<PluginReceiver>.fromOpaque(address).takeUnretainedValue()
        receiver.inbox.beginTurn()
        if let message = receiver.inbox.takeFirst() { receiver.deliver(message) }
    }

    /// Has everything take effect that waits, before something that cannot wait itself. Loop thread.
    final func deliverWaiting() {
        // No more than are there now: other threads may add to them meanwhile, and never rest.
        for _ in 0..<inbox.turnsDue {
            guard let message = inbox.takeFirst() else { return }
            deliver(message)
        }
    }

    private func deliver(_ message: PluginMessage) {
        switch message {
        case .reply(let call, let result): result.withUnsafeBytes { replied(call, $0) }
        case .failure(let call, let error): failed(call, error)
        case .progress(let call, let value): value.withUnsafeBytes { progressed(call, $0) }
        case .line(let level, let text, let call): logged(level, text, call)
        case .event(let event): published(event)
        case .function(let function, let argument): function(argument)
        }
    }
}
