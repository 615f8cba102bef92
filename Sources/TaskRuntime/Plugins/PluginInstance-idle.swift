// Whether a plugin has work: calls, and ends of streams.
extension PluginInstance {
    /// Whether no call is worked on, answered or not, and none waits but for another plugin to take its place.
    var isWithoutCalls: Bool {
        (pauses.contains(.handover) || waiting.isEmpty) && endings.isEmpty && tasks.allSatisfy { $0.runningCount == 0 }
            && interceptors.allSatisfy { $0.entry.runningCount == 0 }
    }

    /// Whether it works on nothing. A stream lasts as long as its users like: only a plugin that is to stop is waited
    /// for until it holds no end of one.
    var isIdle: Bool { isWithoutCalls && (!isLeaving || streamsMovedAt == nil) }

    /// Who holds its ends of streams.
    var streamHolders: [StreamHolder] { [streamHolder] + host.streamHolders }

    /// When bytes last moved through an end of a stream that it holds, or it took one; nil: it holds none.
    var streamsMovedAt: RuntimeInstant? { streamHolders.compactMap(\.movedAt).max() }

    /// A call has ended, or an end of a stream is over: somebody may wait for that.
    public func noteLessWork() { onLessWork?() }
}
