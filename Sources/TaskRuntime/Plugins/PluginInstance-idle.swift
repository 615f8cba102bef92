// Whether a plugin has work: calls, and ends of streams.
extension PluginInstance {
    /// Whether the plugin works on no call, answered or not, and no call waits, except for another plugin to replace
    /// it.
    var isWithoutCalls: Bool {
        (pauses.contains(.handover) || waiting.isEmpty) && endings.isEmpty && tasks.allSatisfy { $0.runningCount == 0 }
            && interceptors.allSatisfy { $0.entry.runningCount == 0 }
    }

    /// Whether the plugin has no work. A stream can last as long as its users want: open ends count only for a plugin
    /// that is stopping.
    var isIdle: Bool { isWithoutCalls && (!isLeaving || streamsMovedAt == nil) }

    /// The holders of its ends of streams.
    var streamHolders: [StreamHolder] { [streamHolder] + host.streamHolders }

    /// The moment when bytes last moved through an end of a stream that it holds, or when it took one; `nil` if it
    /// holds none.
    var streamsMovedAt: RuntimeInstant? { streamHolders.compactMap(\.movedAt).max() }

    /// Reports that a call has ended or an end of a stream was released, to the code that waits for it.
    public func noteLessWork() { onLessWork?() }
}
