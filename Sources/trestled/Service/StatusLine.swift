import EventLoop
import TaskRuntime

/// The figures of the status line at one moment.
struct ServiceSample: Equatable {
    var sessions = 0
    /// The number of calls since the start.
    var calls: UInt64 = 0
    var plugins = 0
    /// The number of plugins that could not be used.
    var refusedPlugins = 0
}

extension ServiceSample {
    init(_ runtime: TaskRuntime) {
        self.init(
            sessions: runtime.sessionCount, calls: runtime.callsBegun, plugins: runtime.plugins.count,
            refusedPlugins: runtime.refusedPlugins.count)
    }
}

/// Formats figures as the line that `systemctl status` shows: "3 sessions, 120 calls/s, 5 plugins".
struct StatusLine {
    private var sample: ServiceSample
    private var start: MonotonicInstant

    /// Calls per second are counted from this moment.
    init(_ sample: ServiceSample, at now: MonotonicInstant) {
        self.sample = sample
        start = now
    }

    /// Returns whether any figure has changed since the last sample.
    func differs(from newer: ServiceSample) -> Bool { sample != newer }

    /// Counts calls per second from now on, because nothing has happened until now.
    mutating func restart(at now: MonotonicInstant) { start = now }

    /// Returns the line for the changes since the last sample.
    mutating func text(_ newer: ServiceSample, at now: MonotonicInstant) -> String {
        let rate = Self.rate(newer.calls &- sample.calls, within: now - start)
        sample = newer
        start = now
        let refused = newer.refusedPlugins == 0 ? "" : " (\(newer.refusedPlugins) refused)"
        return
            "\(Self.count(newer.sessions, "session")), \(rate) calls/s, "
            + "\(Self.count(newer.plugins, "plugin"))\(refused)"
    }

    /// Returns the rate, rounded to two digits so that the line stays the same under a steady load; "<1" for a rate
    /// between 0 and 1.
    private static func rate(_ calls: UInt64, within duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        guard calls > 0, seconds > 0 else { return "0" }
        let exact = Double(calls) / seconds
        guard exact >= 1 else { return "<1" }
        var unit = 1.0
        while exact / unit >= 100 { unit *= 10 }
        return String(Int((exact / unit).rounded() * unit))
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

/// Updates the status line at most every two seconds while figures change. Causes no wake-ups otherwise: it then reads
/// the figures only when the loop has had other work.
@LoopActor
final class StatusReporter {
    private static let interval = Duration.seconds(2)

    private let sample: @LoopActor () -> ServiceSample
    private let send: @LoopActor (String) -> Void
    private var line: StatusLine
    /// The last line that was sent.
    private var shown = ""
    private var timer: LoopTimer?
    private var hook: TurnEndHook?

    /// - Parameters:
    ///   - sample: Returns the figures; called at the end of turns, so it must be cheap.
    ///   - send: Receives each new line.
    init(sample: @escaping @LoopActor () -> ServiceSample, send: @escaping @LoopActor (String) -> Void) {
        self.sample = sample
        self.send = send
        line = StatusLine(sample(), at: EventLoop.now)
    }

    /// Begins or continues; returns the current line, which the caller sends.
    func begin() -> String {
        pause()
        shown = line.text(sample(), at: EventLoop.now)
        awaitChange()
        return shown
    }

    /// Stops sending until ``begin()``.
    func pause() {
        timer?.cancel()
        hook?.remove()
        hook = nil
    }

    /// Stops sending.
    func close() {
        pause()
        timer?.close()
        timer = nil
    }

    private func awaitChange() {
        hook = EventLoop.atTurnEnd { [weak self] in self?.lookForChange() }
    }

    private func lookForChange() {
        guard line.differs(from: sample()) else { return }
        hook?.remove()
        hook = nil
        line.restart(at: EventLoop.now)
        let timer = timer ?? LoopTimer { [weak self] in self?.update() }
        self.timer = timer
        timer.schedule(after: Self.interval)
    }

    private func update() {
        let sample = sample()
        let isQuiet = !line.differs(from: sample)
        let text = line.text(sample, at: EventLoop.now)
        if text != shown {
            shown = text
            send(text)
        }
        if isQuiet { awaitChange() } else { timer?.schedule(after: Self.interval) }
    }
}
