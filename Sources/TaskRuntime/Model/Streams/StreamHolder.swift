/// Who holds ends of streams: a session, a loaded plugin, or one process of a plugin. Compared by identity: what comes
/// after it, a new connection or the plugin's next process, is another one. Loop thread only.
public final class StreamHolder {
    /// The streams of which it holds an end.
    var names: Set<StreamName> = []
    /// Of those, the ones whose read waits until the session has read on.
    var heldReads: Set<StreamName> = []
    /// How many streams count as its own: those that it made, or that were made for its calls.
    var chargedCount = 0

    /// The reads that wait, which are looked at now.
    func takeHeldReads() -> Set<StreamName> {
        defer { heldReads = [] }
        return heldReads
    }

    /// Holds none.
    public init() {}
}

extension Session {
    /// Its ends of streams, made where there is none yet.
    func makeStreamHolder() -> StreamHolder {
        let holder = streamHolder ?? StreamHolder()
        streamHolder = holder
        return holder
    }
}
