/// Who waits for plugins to be idle, and no longer than the time that these have. Loop thread only.
///
/// The time counts from the beginning of the wait. That of a plugin which is to stop, and has no calls left but ends of
/// streams, counts from when bytes last moved: what moves may go on.
final class IdleWaits {
    private struct Wait {
        let plugin: PluginInstance
        let start: RuntimeInstant
        let limit: Duration
        let done: () -> Void

        /// When the time is over.
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

    init(_ rooms: RuntimeRooms) {
        clock = rooms.clock
        alarm = rooms.alarm
    }

    /// Calls `done` once, when the plugin is idle or the time is over, which may be immediately.
    func wait(for plugin: PluginInstance, within limit: Duration, _ done: @escaping () -> Void) {
        waits.append(Wait(plugin: plugin, start: clock.now, limit: limit, done: done))
        plugin.onLessWork = { [unowned self] in look() }
        look()
    }

    /// Ends the waits that are over. To be called when work may be over, and when the clock woke the runtime.
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
