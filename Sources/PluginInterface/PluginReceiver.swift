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
    /// Its data as unchecked JSON; empty for null.
    public let data: [UInt8]
    /// The numbers of the sessions that get it; `nil` for all that subscribed.
    public let sessions: [UInt64]?
    /// Whether those sessions get it even if they have not subscribed.
    public let isDirect: Bool
    /// Whether it is retained for later subscribers.
    public let isRetained: Bool
    /// Whether the retained event of this name is removed; the event is not sent in this case.
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

/// Receives a plugin's messages: the host's side of the plugin interface, in the daemon's process and in the plugin's.
///
/// All messages of the plugin take effect on the loop thread, in the order in which they were sent: immediately if the
/// loop thread sends them and no other message waits, else in their turn; see ``PluginInbox``. So progress that a
/// thread sends precedes an answer that the loop thread sends after the thread has notified it. Metrics are no
/// messages: they take effect when they are set, before all later messages.
///
/// Never deallocated: the plugin holds the table that points here until the process ends. It is a class, not a
/// protocol, because a C function with its address calls it without counting a reference.
open class PluginReceiver {
    /// The functions that the host offers to the plugin.
    public let vtable: UnsafeMutablePointer<trestle_host>
    private let inbox = PluginInbox()
    /// The value of ``LoopHolder`` while the plugin's code runs, without a task's number.
    final let holder: UInt32
    private let holderCell = LoopHolder.cell
    /// The descriptors and the timers that the plugin waits for.
    final let watches = PluginWatches()
    /// The marks of its tasks, such as the presence of interceptors.
    public final let taskMarks = PluginTaskMarks()
    /// Its calls about streams.
    final let streamUses = PluginStreamUses()
    /// The loop thread, which created this object.
    private let loopThread = pthread_self()

    /// Creates a receiver on the loop thread.
    public init() {
        precondition(LoopActor.isOnLoopThread, "A plugin's receiver is made on the loop thread.")
        vtable = .allocate(capacity: 1)
        holder = PluginHolders.nextHolder
        // Never released; see above.
        vtable.initialize(to: HostVTable.make(context: Unmanaged.passRetained(self).toOpaque()))
        PluginHolders.add(self)
    }

    // MARK: Holders of the loop thread

    /// Notes that the plugin's code runs, until ``release(to:)``. Loop thread.
    ///
    /// - Parameter task: The number of the running task; `nil` if it is unknown.
    /// - Returns: The previous holder of the thread.
    @inline(__always)
    public final func hold(_ task: Int? = nil) -> UInt32 {
        let before = holderCell.pointee.load(ordering: .relaxed)
        let part = task.map { UInt32(truncatingIfNeeded: $0 + 1) & PluginHolders.taskMask } ?? 0
        holderCell.pointee.store(holder | part, ordering: .releasing)
        return before
    }

    /// Notes that the plugin's code has returned. Loop thread.
    @inline(__always)
    public final func release(to before: UInt32) { holderCell.pointee.store(before, ordering: .relaxed) }

    /// Returns the name of the code that holds the thread. Any thread.
    ///
    /// - Parameter task: The number of the running task; `nil` if it is unknown.
    open func holderName(_ task: Int?) -> String { "the plugin" }
    /// Reports that the plugin has held the thread for long. Called on another thread while it still holds it, and on
    /// the loop thread afterwards.
    open func noteHold(_ hold: LoopHold) {}

    // MARK: Messages of the plugin; loop thread unless stated otherwise

    /// Receives the result of a call. `result` may be the buffer of the call's options.
    open func replied(_ call: trestle_call, _ result: UnsafeRawBufferPointer) {}
    /// Receives the error of a call.
    open func failed(_ call: trestle_call, _ error: BridgeError) {}
    /// Receives an intermediate result of a call.
    open func progressed(_ call: trestle_call, _ value: UnsafeRawBufferPointer) {}
    /// Receives a line for the log.
    open func logged(_ level: UInt32, _ text: String, _ call: trestle_call) {}
    /// Receives an event.
    open func published(_ event: PluginEvent) {}
    /// Makes a call of a task for the plugin.
    ///
    /// - Returns: The call's handle.
    open func called(_ request: UnsafePointer<trestle_outgoing_call>) -> trestle_call { 0 }
    /// Makes a call about a stream for the plugin.
    ///
    /// - Returns: The call's handle.
    open func called(_ use: PluginStreamUse) -> trestle_call { 0 }
    /// Cancels a call that the plugin has made.
    open func cancelled(_ call: trestle_call) {}
    /// Returns whether lines of this level are written. Any thread.
    open func writes(level: UInt32) -> Bool { true }
    /// Declares a metric. Any thread.
    ///
    /// - Returns: The metric's number.
    /// - Throws: ``MetricRefusal`` if it cannot be published.
    open func declared(_ metric: MetricDeclaration) throws(MetricRefusal) -> UInt32 { 0 }
    /// Sets a metric. Any thread.
    open func setMetric(_ number: UInt32, to value: Double) {}
    /// Adds to a metric. Any thread.
    open func addToMetric(_ number: UInt32, _ amount: Double) {}

    /// Ends the watches and timers of a plugin that has stopped. Loop thread.
    public final func endWatches() { LoopActor.assumeIsolated(passing: watches) { $0.endAll() } }

    /// Ends the calls about streams of a plugin that is about to stop or has stopped. Loop thread.
    public final func endStreamUses() {
        let holder = hold()
        streamUses.endAll()
        release(to: holder)
    }

    // MARK: Order of messages

    /// The same as `LoopActor.isOnLoopThread`, without access to the loop's state: this is read twice with every call.
    @inline(__always)
    final var isOnLoopThread: Bool { pthread_self() == loopThread }

    /// Whether a message that is sent now takes effect immediately.
    @inline(__always)
    final var takesNow: Bool { isOnLoopThread && inbox.isEmpty }

    /// Queues a message, which takes effect in its turn. Any thread.
    final func append(_ message: PluginMessage) {
        inbox.append(message)
        EventLoop.post(Self.takeTurn, Unmanaged.passUnretained(self).toOpaque(), as: holder)
    }

    private static let takeTurn: @convention(c) (UnsafeMutableRawPointer?) -> Void = { address in
        // The address passed above, of an object that is never deallocated.
        guard let address else { return }
        let receiver = Unmanaged<PluginReceiver>.fromOpaque(address).takeUnretainedValue()
        receiver.inbox.beginTurn()
        if let message = receiver.inbox.takeFirst() { receiver.deliver(message) }
    }

    /// Delivers all waiting messages, before a message that cannot wait. Loop thread.
    final func deliverWaiting() {
        // The number is fixed here, because other threads may add messages without end.
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
