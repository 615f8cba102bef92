import BridgeJSON
import BridgeMessage

/// What a plugin gets of a call besides its options. In one piece, because each property of another module is a
/// function call.
public struct CallTerms {
    /// Which call it is.
    public var handle: CallHandle
    /// What is left until its deadline; `max`: it has none.
    public var nanosecondsLeft: UInt64
    /// ``Call/callerRevision``.
    public var callerRevision: (session: UInt64, revision: UInt32)
    /// ``Call/takesProgress``.
    public var takesProgress: Bool
    /// ``Call/isOneWay``.
    public var isOneWay: Bool
}

/// One call in flight: a reference into the call table's memory, which is never moved nor given back, so that handing
/// one on counts no references. It stands for the call between ``CallTable/begin(_:)`` and ``CallTable/remove(_:)``;
/// afterwards the same memory becomes another call. Code that keeps a call beyond that keeps its ``handle``. Loop
/// thread only.
public struct Call {
    let record: UnsafeMutablePointer<CallRecord>

    /// Which call this is.
    public var handle: CallHandle { record.pointee.handle }
    /// The task's index among those of its plugin.
    public var taskIndex: Int { task?.index ?? 0 }
    /// The session whose call this is, or on whose behalf it was made.
    public var session: Session? { record.pointee.session?.takeUnretainedValue() }
    /// Which state of which session this is: what has been made of a session's identity holds as long as both numbers
    /// are the same. The daemon itself is session 0.
    public var callerRevision: (session: UInt64, revision: UInt32) {
        record.pointee.session?._withUnsafeGuaranteedRef { ($0.number, $0.identityRevision) } ?? (0, 0)
    }
    /// Whether no caller waits for the callback.
    public var isOneWay: Bool { record.pointee.id.isEmpty && (!hasExtras || completion == nil) }
    /// Whether the caller takes intermediate results.
    public var takesProgress: Bool { record.pointee.wantsProgress }

    var state: CallState {
        get { record.pointee.state }
        nonmutating set { record.pointee.state = newValue }
    }
    /// A number for people: `bridge.calls` shows it, `bridge.kill` takes it. Grows by one with each call.
    var number: UInt64 { record.pointee.number }
    var origin: CallOrigin { record.pointee.origin }
    var task: TaskEntry? { record.pointee.task?.takeUnretainedValue() }
    var startedAt: RuntimeInstant { record.pointee.startedAt }
    /// When it ends by itself; ``RuntimeInstant/never``: it does not.
    var deadline: RuntimeInstant { record.pointee.deadline }
    var hasID: Bool { !record.pointee.id.isEmpty }
    /// The id as text, for logs and lists.
    var idDescription: String { record.pointee.id.description }

    /// What is left until the deadline; nil: there is none.
    func remaining(at now: RuntimeInstant) -> Duration? { deadline == .never ? nil : deadline.since(now) }

    /// Whether this session works on the call.
    func isHanded(to session: Session) -> Bool {
        // Addresses alone are compared.
        record.pointee.provider?.toOpaque() == Unmanaged.passUnretained(session).toOpaque()
    }

    /// The number of the next intermediate result.
    func takeSequence() -> UInt64 {
        defer { record.pointee.nextSequence += 1 }
        return record.pointee.nextSequence
    }

    /// The call, whose work has not begun, is another task's from now on: one of the same name, of the provider that
    /// took the place of its own.
    func move(to next: TaskEntry) {
        task?.statistics.leave()
        record.pointee.task = .passUnretained(next)
        next.statistics.enter()
    }

    // MARK: What few calls have

    /// Whether any of what follows may be there.
    var hasExtras: Bool { record.pointee.extras != nil }

    /// To be changed; made where there is none yet.
    var extras: CallExtras {
        if let extras = record.pointee.extras { return extras }
        let made = CallExtras()
        record.pointee.extras = made
        return made
    }

    /// The session that the call was addressed to, where the caller named one.
    var target: Session? { record.pointee.extras?.target }
    /// The session that gets the call because its description has named the parameters; nil where none has, or where
    /// the call is of another task by now.
    var namer: Session? {
        guard let extras = record.pointee.extras, extras.namedTask == task?.number else { return nil }
        return extras.namer
    }
    /// The plugin that made the call.
    var pluginName: String? { record.pointee.extras?.pluginName }
    /// The call on whose behalf this one was made.
    var parent: CallHandle? { record.pointee.extras?.parent }
    /// The number of its root call: of the call of a client, or of a plugin in its own name, on whose behalf it was
    /// made, directly or not. A call that was made on behalf of none is its own.
    var rootNumber: UInt64 {
        guard let root = record.pointee.extras?.rootNumber, root > 0 else { return number }
        return root
    }
    /// Who made it, of a plugin: the plugin, or the process of it.
    var pluginHolder: StreamHolder? { record.pointee.extras?.holder }
    /// Calls made on behalf of this one that may still be in flight.
    var children: [CallHandle] { record.pointee.extras?.children ?? [] }
    /// For calls from within the daemon: called once at the end.
    var completion: ((CallOutcome) -> Void)? { record.pointee.extras?.completion }
    /// For calls from within the daemon: called with intermediate results.
    var onProgress: ((UInt64, UnsafeRawBufferPointer) -> Void)? { record.pointee.extras?.onProgress }
    /// Progress that waits because its reader is slow: only the newest.
    var heldProgress: (sequence: UInt64, value: [UInt8])? { record.pointee.extras?.heldProgress }

    /// Takes the options out that wait for their turn.
    func takeHeldOptions() -> [UInt8] {
        guard let extras = record.pointee.extras else { return [] }
        defer { extras.heldOptions = [] }
        return extras.heldOptions
    }
}

extension Call: Equatable {
    /// Whether the two stand for the same slot in the table, and so, while it is in flight, for the same call.
    public static func == (left: Call, right: Call) -> Bool { left.record == right.record }
}

/// Who made a call, and so who gets its callback.
enum CallOrigin {
    /// A session. Without an id in the call no one is notified of its end.
    case session
    /// A plugin, in its own name or on behalf of the session whose call it works on.
    case plugin
    /// The daemon itself: launch workers, starting and stopping plugins.
    case daemon
    /// The daemon asks an interceptor about another call: no one sees it as a call of its own.
    case question
}

/// What has become of a call.
enum CallState {
    /// Ended, or in the table's stock of unused ones.
    case free
    /// Its work has not begun.
    case waiting
    /// Its work has begun.
    case running
    /// It is about to end before its work does: what its provider says while it is notified comes too late.
    case ending
}
