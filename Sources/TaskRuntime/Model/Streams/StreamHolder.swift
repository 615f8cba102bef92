/// A holder of stream ends: a session, a loaded plugin, or one process of a plugin. Compared by identity: a later
/// connection or the plugin's next process is a different holder. Loop thread only.
public final class StreamHolder {
    /// The streams of which this holder has an end.
    private(set) var names: Set<StreamName> = []
    /// The streams among ``names`` whose read waits until the session has read more of its output.
    var heldReads: Set<StreamName> = []
    /// The streams among ``names`` of which this holder's end is a pipe.
    private var piped: Set<StreamName> = []
    /// The moment when this holder took its newest end, or when bytes last moved through one of its ends.
    private var moment = RuntimeInstant(nanoseconds: 0)
    /// The number of streams charged to this holder: those that it made, or that were made for its calls.
    var chargedCount = 0
    /// Called when this holder takes its first end, and when its last end is released.
    public var onChange: (() -> Void)?

    /// Creates a holder without ends.
    public init() {}

    /// The moment when this holder took its newest end, or when bytes last moved through one of its ends; `nil` if it
    /// has no end.
    public var movedAt: RuntimeInstant? { names.isEmpty ? nil : moment }

    /// Adds an end of this stream.
    func take(_ name: StreamName, at now: RuntimeInstant) {
        let isFirst = names.isEmpty
        names.insert(name)
        moment = now
        if isFirst { onChange?() }
    }

    /// The number of ends that are pipes.
    var pipeCount: Int { piped.count }

    /// Marks the end of this stream as a pipe.
    func notePipe(_ name: StreamName) { piped.insert(name) }

    /// Records that bytes have moved through one of the ends.
    func noteMove(at now: RuntimeInstant) { moment = now }

    /// Removes the end of this stream.
    func release(_ name: StreamName) {
        heldReads.remove(name)
        piped.remove(name)
        if names.remove(name) != nil, names.isEmpty { onChange?() }
    }

    /// Removes and returns the streams with held reads; the caller looks at them now.
    func takeHeldReads() -> Set<StreamName> {
        defer { heldReads = [] }
        return heldReads
    }
}

extension Session {
    /// Returns the session's stream holder; creates it if there is none yet.
    func makeStreamHolder() -> StreamHolder {
        let holder = streamHolder ?? StreamHolder()
        streamHolder = holder
        return holder
    }
}
