import BridgeJSON
import BridgeMessage

/// The properties of a call that a plugin receives in addition to the options. They are one structure because reading a
/// property of another module is a function call.
public struct CallTerms {
    /// The call's handle.
    public var handle: CallHandle
    /// The time left until the deadline, in nanoseconds; `max` if there is no deadline.
    public var nanosecondsLeft: UInt64
    /// ``Call/callerRevision``.
    public var callerRevision: (session: UInt64, revision: UInt32)
    /// ``Call/takesProgress``.
    public var takesProgress: Bool
    /// ``Call/isOneWay``.
    public var isOneWay: Bool
}

/// One call in flight: a reference into the call table's memory. That memory does not move while a call uses it, so
/// passing a call on counts no references. The reference is valid between ``CallTable/begin(_:)`` and
/// ``CallTable/remove(_:)``; afterwards the same memory is used for another call. Code that keeps a call longer stores
/// its ``handle``. Loop thread only.
public struct Call {
    let record: UnsafeMutablePointer<CallRecord>

    /// The call's handle.
    public var handle: CallHandle { record.pointee.handle }
    /// The task's index among those of its plugin.
    public var taskIndex: Int { task?.index ?? 0 }
    /// The session that made the call, or on whose behalf it was made.
    public var session: Session? { record.pointee.session?.takeUnretainedValue() }
    /// The session's number and the revision of its identity. Data derived from a session's identity stays valid as
    /// long as both numbers are the same. The daemon itself is session 0.
    public var callerRevision: (session: UInt64, revision: UInt32) {
        record.pointee.session?._withUnsafeGuaranteedRef { ($0.number, $0.identityRevision) } ?? (0, 0)
    }
    /// Whether no caller waits for the callback of this call.
    public var isOneWay: Bool { record.pointee.id.isEmpty && (!hasExtras || completion == nil) }
    /// Whether the caller accepts intermediate results.
    public var takesProgress: Bool { record.pointee.wantsProgress }

    var state: CallState {
        get { record.pointee.state }
        nonmutating set { record.pointee.state = newValue }
    }
    /// The number shown by `bridge.calls` and accepted by `bridge.kill`. It grows by one with each call.
    var number: UInt64 { record.pointee.number }
    var origin: CallOrigin { record.pointee.origin }
    var task: TaskEntry? { record.pointee.task?.takeUnretainedValue() }
    var startedAt: RuntimeInstant { record.pointee.startedAt }
    /// The moment when the call times out; ``RuntimeInstant/never`` if it does not.
    var deadline: RuntimeInstant { record.pointee.deadline }
    var hasID: Bool { !record.pointee.id.isEmpty }
    /// The id as text, for logs and lists.
    var idDescription: String { record.pointee.id.description }

    /// Returns the time left until the deadline; `nil` if there is none.
    func remaining(at now: RuntimeInstant) -> Duration? { deadline == .never ? nil : deadline.since(now) }

    /// Whether this session works on the call.
    func isHanded(to session: Session) -> Bool {
        // Only the addresses are compared.
        record.pointee.provider?.toOpaque() == Unmanaged.passUnretained(session).toOpaque()
    }

    /// Returns the number of the next intermediate result and advances the counter.
    func takeSequence() -> UInt64 {
        defer { record.pointee.nextSequence += 1 }
        return record.pointee.nextSequence
    }

    /// Moves a call whose work has not begun to another task: the task of the same name of the provider that replaced
    /// its own.
    func move(to next: TaskEntry) {
        task?.statistics.leave()
        record.pointee.task = .passUnretained(next)
        next.statistics.enter()
    }

    // MARK: Rare properties

    /// Whether any of the following properties may be set.
    var hasExtras: Bool { record.pointee.extras != nil }

    /// The rare properties, for changes; created if they do not exist yet.
    var extras: CallExtras {
        if let extras = record.pointee.extras { return extras }
        let made = CallExtras()
        record.pointee.extras = made
        return made
    }

    /// The session that the call was addressed to; `nil` if the caller named none.
    var target: Session? { record.pointee.extras?.target }
    /// The session that receives the call because the parameters were named by its description; `nil` if no description
    /// was used, or if the call now belongs to another task.
    var namer: Session? {
        guard let extras = record.pointee.extras, extras.namedTask == task?.number else { return nil }
        return extras.namer
    }
    /// The name of the plugin that made the call; `nil` if no plugin did.
    var pluginName: String? { record.pointee.extras?.pluginName }
    /// The call on whose behalf this one was made.
    var parent: CallHandle? { record.pointee.extras?.parent }
    /// The number of the root call: the call of a client, or of a plugin in its own name, on whose behalf this one was
    /// made, directly or indirectly. A call that was not made on behalf of another is its own root.
    var rootNumber: UInt64 {
        guard let root = record.pointee.extras?.rootNumber, root > 0 else { return number }
        return root
    }
    /// The plugin, or the process of the plugin, that made the call; `nil` if no plugin did.
    var pluginHolder: StreamHolder? { record.pointee.extras?.holder }
    /// The calls made on behalf of this one that may still be in flight.
    var children: [CallHandle] { record.pointee.extras?.children ?? [] }
    /// For calls from inside the daemon: called once at the end.
    var completion: ((CallOutcome) -> Void)? { record.pointee.extras?.completion }
    /// For calls from inside the daemon: called with intermediate results.
    var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)? { record.pointee.extras?.onProgress }
    /// Progress that waits because its reader is slow; only the newest value is kept.
    var heldProgress: (sequence: UInt64, value: [UInt8])? { record.pointee.extras?.heldProgress }

    /// Removes and returns the options that wait for their turn.
    func takeHeldOptions() -> [UInt8] {
        guard let extras = record.pointee.extras else { return [] }
        defer { extras.heldOptions = [] }
        return extras.heldOptions
    }
}

extension Call: Equatable {
    /// Whether both refer to the same slot in the table, and so, while it is in flight, to the same call.
    public static func == (left: Call, right: Call) -> Bool { left.record == right.record }
}

/// The maker of a call, which receives the callback.
enum CallOrigin {
    /// A session. If the call has no id, its end is not reported.
    case session
    /// A plugin, in its own name or on behalf of the session whose call it works on.
    case plugin
    /// The daemon itself: launch workers, starting and stopping plugins.
    case daemon
    /// The daemon, which asks an interceptor about another call. It is not shown as a call of its own.
    case question
}

/// The state of a call.
enum CallState {
    /// Ended, or a record in the table's pool of unused ones.
    case free
    /// Its work has not begun.
    case waiting
    /// Its work has begun.
    case running
    /// The call is about to end before its work does: anything that its provider sends while it is notified is too
    /// late.
    case ending
}
