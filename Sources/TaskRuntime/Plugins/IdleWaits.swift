/// Waits until plugins are idle or a time limit has passed. Loop thread only.
///
/// The time counts from the start of the wait. For a leaving plugin that holds ends of streams it counts from when
/// bytes last moved, because streams that move may continue; while such a plugin has calls, from the later of the two.
final class IdleWaits {
    private struct Wait {
        let plugin: PluginInstance
        let start: RuntimeInstant
        let limit: Duration
        let done: () -> Void

        /// The moment when the time limit has passed.
        var end: RuntimeInstant {
            let moved = plugin.isLeaving ? plugin.streamsMovedAt : nil
            let start = plugin.isWithoutCalls ? moved ?? start : max(moved ?? start, start)
            return start.advanced(by: limit)
        }

        func isOver(at now: RuntimeInstant) -> Bool { plugin.isIdle || end <= now }
    }

    private let clock: any RuntimeClock
    private let alarm: Alarm
    private var waits: [Wait] = []

    init(_ components: RuntimeComponents) {
        clock = components.clock
        alarm = components.alarm
    }

    /// Calls `done` once, when the plugin is idle or the time limit has passed, which may be immediately.
    func wait(for plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        waits.append(Wait(plugin: plugin, start: clock.now, limit: limit, done: done))
        plugin.onLessWork = { [unowned self] in look() }
        look()
    }

    /// Ends the waits that are complete. Called when work may have ended, and when the clock has woken the runtime.
    func look() {
        guard !waits.isEmpty else { return }
        let now = clock.now
        let over = waits.filter { $0.isOver(at: now) }
        waits.removeAll { $0.isOver(at: now) }
        for wait in waits { alarm.wake(by: wait.end) }
        for wait in over {
            if !waits.contains(where: { $0.plugin === wait.plugin }) { wait.plugin.onLessWork = nil }
            wait.done()
        }
    }
}
