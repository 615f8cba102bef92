// MainLoop: GLib's loop on the main thread, and what runs on it: libdispatch's main queue, and so `@MainActor` code,
// timers, descriptors, signals of objects and of the process.
//
// Callbacks of C enter by `MainActor.assumeIsolated`. Nothing in here runs a nested loop: the main queue does not drain
// within itself.
internal import CWebKitGTK
internal import EventLoop

/// The loop of the main thread.
@MainActor
public enum MainLoop {
    private static let loop = g_main_loop_new(nil, 0)
    private static var mainQueue: LoopSource?

    /// Runs until ``quit()``. Called once, by `main`, and never by code that runs on the loop.
    ///
    /// - Precondition: this libdispatch gives the descriptor of its main queue.
    public static func run() {
        guard let descriptor = MainQueue.wakeUpDescriptor else {
            preconditionFailure("libdispatch does not give the descriptor of its main queue")
        }
        TurnWatch.start()
        mainQueue = LoopSource.watching(descriptor, for: .input, as: "main actor") { MainQueue.runPending() }
        g_main_loop_run(loop)
        mainQueue = nil
    }

    /// The turns that took long, since ``run()``.
    public static var longTurns: LongTurns { TurnWatch.long }

    /// Runs a callback that C calls on the main thread; ``longTurns`` has its name where it takes long.
    ///
    /// - Parameters:
    ///   - name: What runs, for people.
    ///   - body: The callback.
    public static func measuring(_ name: String, _ body: () -> Void) { TurnWatch.run(name, body) }

    /// The toolkit begins something, which ends in the same turn: ``longTurns`` has its name where it takes long.
    ///
    /// - Parameter name: What begins, for people.
    public static func toolkitBegins(_ name: String) { TurnWatch.begin(name) }

    /// The toolkit has done what it has begun.
    public static func toolkitEnds() { TurnWatch.end() }

    /// Counts the turns, since ``run()``.
    public static var turnNumber: Int { TurnWatch.number }

    /// Has the turn that runs begin now: what it has done is not counted. For the start, before there are windows.
    public static func beginTurnAgain() { TurnWatch.beginAgain() }

    /// Ends ``run()`` after what runs now.
    public static func quit() { g_main_loop_quit(loop) }
}
