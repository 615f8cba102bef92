/// Who holds ends of streams: a session, a loaded plugin, or one process of a plugin. Compared by identity: what comes
/// after it, a new connection or the plugin's next process, is another one. Loop thread only.
public final class StreamHolder {
    /// The streams of which it holds an end.
    private(set) var names: Set<StreamName> = []
    /// Of those, the ones whose read waits until the session has read on.
    var heldReads: Set<StreamName> = []
    /// Of those, the ones of which its end is a pipe.
    private var piped: Set<StreamName> = []
    /// When it took its newest end, or bytes last moved through one of them.
    private var moment = RuntimeInstant(nanoseconds: 0)
    /// How many streams count as its own: those that it made, or that were made for its calls.
    var chargedCount = 0
    /// Called when it has taken its first end, and when its last one is over.
    public var onChange: (() -> Void)?

    /// Holds none.
    public init() {}

    /// When it took its newest end, or bytes last moved through one of them; nil: it holds none.
    public var movedAt: RuntimeInstant? { names.isEmpty ? nil : moment }

    /// It has an end of this stream from now on.
    func take(_ name: StreamName, at now: RuntimeInstant) {
        let isFirst = names.isEmpty
        names.insert(name)
        moment = now
        if isFirst { onChange?() }
    }

    /// How many of its ends are pipes.
    var pipeCount: Int { piped.count }

    /// Its end of this stream is a pipe from now on.
    func notePipe(_ name: StreamName) { piped.insert(name) }

    /// Bytes have moved through one of its ends.
    func noteMove(at now: RuntimeInstant) { moment = now }

    /// Its end of this stream is over.
    func release(_ name: StreamName) {
        heldReads.remove(name)
        piped.remove(name)
        if names.remove(name) != nil, names.isEmpty { onChange?() }
    }

    /// The reads that wait, which are looked at now.
    func takeHeldReads() -> Set<StreamName> {
        defer { heldReads = [] }
        return heldReads
    }
}

extension Session {
    /// Its ends of streams, made where there is none yet.
    func makeStreamHolder() -> StreamHolder {
        let holder = streamHolder ?? StreamHolder()
        streamHolder = holder
        return holder
    }
}
