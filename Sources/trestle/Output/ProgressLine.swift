import Synchronization

/// A line on standard error that shows progress and is overwritten: only on a terminal, and only for operations of more
/// than a second.
final class ProgressLine: Sendable {
    private struct State {
        var shownColumns = 0
        var last = ContinuousClock.now
    }

    private static let timeout = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    private let began = ContinuousClock.now
    private let state = Mutex(State())
    private let isShown = Screen.error.isTerminal && News.isShown

    /// Shows the progress if it is due.
    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard isShown, now - began >= Self.timeout else { return }
        state.withLock { state in
            guard state.shownColumns == 0 || now - state.last >= Self.interval else { return }
            state.last = now
            write(text(), &state)
        }
    }

    /// Shows the awaited event while `body` waits for it.
    func waiting<T>(for what: String, _ body: () async throws -> T) async rethrows -> T {
        let ticker = Task {
            try await Task.sleep(for: Self.timeout)
            show(what)
        }
        defer { ticker.cancel() }
        return try await body()
    }

    /// Removes the line.
    func end() {
        state.withLock { state in
            guard state.shownColumns > 0 else { return }
            write("", &state)
            Screen.error.write("\r")
        }
    }

    private func write(_ text: String, _ state: inout State) {
        let columns = PlainText.width(text)
        Screen.error.write("\r" + PlainText.padded(text, to: state.shownColumns))
        state.shownColumns = columns
    }
}
