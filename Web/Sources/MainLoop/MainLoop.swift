// MainLoop: GLib's loop on the main thread, and the sources that run on it: libdispatch's main queue and so
// `@MainActor` code, timers, descriptors, signals of objects and of the process.
//
// C callbacks enter with `MainActor.assumeIsolated`. No code here runs a nested loop: the main queue does not drain
// within itself.
internal import CWebKitGTK
internal import EventLoop

/// The loop of the main thread.
@MainActor
public enum MainLoop {
    private static let loop = g_main_loop_new(nil, 0)
    private static var mainQueue: LoopSource?

    /// Runs until ``quit()``. Called once, by `main`, never by code that runs on the loop.
    ///
    /// - Precondition: libdispatch provides the descriptor of its main queue.
    public static func run() {
        guard let descriptor = MainQueue.wakeUpDescriptor else {
            preconditionFailure("libdispatch provides no descriptor of its main queue")
        }
        TurnWatch.start()
        mainQueue = LoopSource.watching(descriptor, for: .input, as: "main actor") { MainQueue.runPending() }
        g_main_loop_run(loop)
        mainQueue = nil
    }

    /// The statistics of long turns since ``run()``.
    public static var longTurns: LongTurns { TurnWatch.long }

    /// Runs a callback that C calls on the main thread. If it takes long, ``longTurns`` counts it under `name`.
    ///
    /// - Parameters:
    ///   - name: The name of the callback, for people.
    ///   - body: The callback.
    public static func measuring(_ name: String, _ body: () -> Void) { TurnWatch.run(name, body) }

    /// Notes that the toolkit begins work that ends in the same turn. If it takes long, ``longTurns`` counts it under
    /// `name`.
    ///
    /// - Parameter name: The name of the work, for people.
    public static func toolkitBegins(_ name: String) { TurnWatch.begin(name) }

    /// Notes that the toolkit has ended this work.
    public static func toolkitEnds() { TurnWatch.end() }

    /// The number of turns since ``run()``.
    public static var turnNumber: Int { TurnWatch.number }

    /// Restarts the measurement of the current turn: its work so far is not counted. For the start, before there are
    /// windows.
    public static func beginTurnAgain() { TurnWatch.beginAgain() }

    /// Ends ``run()`` after the current callback.
    public static func quit() { g_main_loop_quit(loop) }
}
