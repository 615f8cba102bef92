import BridgeJSON
import EventLoop

/// Shows alerts one after the other and reads the answers as lines.
@LoopActor
final class TerminalPresenter {
    private let lines: LineReader
    private let print: @LoopActor (String) -> Void
    private let bold: @Sendable (String) -> String
    private var isShowing = false
    private let turn = AsyncSignal<Void>()
    /// Whether lines that were typed before the question are discarded.
    private let forgetsEarlierLines: Bool

    /// - Parameters:
    ///   - lines: The lines of the user.
    ///   - forgetsEarlierLines: Whether a line counts only if it was typed after the question; used for terminals.
    ///   - print: Shows text to the user.
    init(
        lines: LineReader, forgetsEarlierLines: Bool, print: @escaping @LoopActor (String) -> Void,
        bold: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.lines = lines
        self.forgetsEarlierLines = forgetsEarlierLines
        self.print = print
        self.bold = bold
    }

    /// Waits until no further answer is possible: the input has ended and no alert is shown.
    func ended() async {
        await lines.ended()
        while isShowing, await turn.wait() != nil {}
    }

    /// Waits for its turn, shows an alert and returns the answer.
    /// - Throws: `alert.dismissed` if the input ends; `CancellationError` if the caller cancels.
    func show(_ options: JSON) async throws -> JSON {
        let alert = try TerminalAlert(options)
        while isShowing {
            if await turn.wait() == nil { throw CancellationError() }
        }
        isShowing = true
        defer {
            isShowing = false
            turn.resumeAll(())
        }
        try Task.checkCancellation()
        if forgetsEarlierLines { lines.discard() }
        do {
            return try await answer(alert)
        } catch let error as CancellationError {
            print("\n(no longer asked)\n")
            throw error
        }
    }

    private func answer(_ alert: TerminalAlert) async throws -> JSON {
        print(alert.text(bold: bold))
        var text: String?
        if alert.isPrompt {
            print(alert.textQuestion)
            text = alert.text(of: try await line())
        }
        while true {
            print(alert.buttonQuestion)
            if let button = alert.button(of: try await line()) { return alert.result(button: button, text: text) }
            print("Answer with the number of a button.\n")
        }
    }

    private func line() async throws -> String {
        switch await lines.next() {
        case .text(let line): return line
        case nil: throw CancellationError()
        case .end:
            throw BridgeError("alert.dismissed", "the user ended the input without an answer")
        }
    }
}
