import BridgeJSON
import Dispatch
import EventLoop
import Synchronization
import Testing

@testable import trestle

@Suite struct TerminalAlertTests {
    @Test(
        "Buttons are the given ones, else those of the kind",
        arguments: [
            (["content": "x"], ["OK"]), (["content": "x", "kind": "confirm"], ["OK", "Cancel"]),
            (["content": "x", "kind": "prompt"], ["OK", "Cancel"]), (["content": "x", "btn": "Fine"], ["Fine"]),
            (["content": "x", "btn": "Fine", "buttons": ["A", "B"]], ["A", "B"]),
        ] as [(JSON, [String])])
    func buttons(options: JSON, expected: [String]) throws {
        #expect(try TerminalAlert(options).buttons == expected)
    }

    @Test(
        "A button is chosen by number or label; an empty line chooses the first",
        arguments: [("", 0), ("1", 0), ("2", 1), ("  2", 1), ("No", 1), ("no", 1), ("3", nil), ("0", nil), ("x", nil)])
    func choice(line: String, expected: Int?) throws {
        let alert = try TerminalAlert(["content": "x", "buttons": ["Yes", "No"]])
        #expect(alert.button(of: line) == expected)
    }

    @Test("Invalid options of an alert are refused with their path")
    func refused() {
        let error = #expect(throws: BridgeError.self) { try TerminalAlert(["content": 1]) }
        #expect(error?.code == .optionsInvalid)
        #expect(error?.data?["path"] == "$.content")
    }

    @Test("Control characters in an alert do not reach the terminal")
    func harmless() throws {
        let alert = try TerminalAlert(["title": "a\u{1B}[2Jb", "content": "one\r\ntwo\u{7}"])
        #expect(alert.text { $0 } == "\na\u{FFFD}[2Jb\none\ntwo\u{FFFD}\n")
    }
}

@Suite(.timeLimit(.minutes(20))) @LoopActor struct TerminalPresenterTests {
    @Test("Alerts are shown one after another, and each gets its own lines")
    func oneAfterAnother() async throws {
        let gate = AsyncStream<String>.makeStream()
        let bench = PresenterBench(gate.stream)
        async let prompt = bench.presenter.show(["content": "a", "kind": "prompt"])
        // The order in which tasks start is not defined.
        await bench.shown("a")
        async let alert = bench.presenter.show(["content": "b"])
        for line in ["first text", "7", "cancel", ""] { gate.continuation.yield(line) }
        let answers = [try await prompt, try await alert]
        let ok: JSON = ["button": "OK", "index": 0]
        #expect(answers == [["button": "Cancel", "index": 1, "text": "first text"], ok])
        #expect(bench.printed.contains("Answer with the number of a button."))
        gate.continuation.finish()
        await bench.presenter.ended()
    }

    @Test("An empty line selects the default text of a prompt")
    func defaultText() async throws {
        let bench = PresenterBench(lines: ["", ""])
        let answer = try await bench.presenter.show(
            ["content": "a", "kind": "prompt", "defaultText": "me"])
        #expect(answer == ["button": "OK", "index": 0, "text": "me"])
        #expect(bench.printed.contains("Text [me]: "))
    }

    @Test("When the input ends, an alert and those after it end with an error")
    func end() async throws {
        let bench = PresenterBench(lines: [])
        for _ in 0..<2 {
            let error = await #expect(throws: BridgeError.self) {
                try await bench.presenter.show(["content": "a"])
            }
            #expect(error?.code == "alert.dismissed")
        }
    }

    @Test("A cancelled alert makes room for the next one, which gets the line")
    func cancelled() async throws {
        let gate = AsyncStream<String>.makeStream()
        let bench = PresenterBench(gate.stream)
        let first = Task { try await bench.presenter.show(["content": "first"]) }
        await bench.shown("first")
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        async let second = bench.presenter.show(["content": "second"])
        await bench.shown("second")
        gate.continuation.yield("")
        let answer = try await second
        #expect(answer == ["button": "OK", "index": 0])
        #expect(bench.printed.contains("no longer asked"))
        gate.continuation.finish()
    }
}

/// A presenter whose user and screen are the test.
@LoopActor
private final class PresenterBench {
    private(set) var printed = ""
    private let printing = AsyncSignal<Void>()
    private(set) lazy var presenter = TerminalPresenter(
        lines: lines, forgetsEarlierLines: false,
        print: { [weak self] text in
            self?.printed += text
            self?.printing.resumeAll(())
        })
    private let lines: LineReader

    init(lines: [String]) {
        let left = Mutex(lines[...])
        self.lines = LineReader { left.withLock { $0.popFirst() } }
    }

    /// Creates a presenter whose lines arrive when the test sends them.
    init(_ stream: AsyncStream<String>) {
        let pipe = LinePipe()
        lines = LineReader { pipe.next() }
        Task.detached {
            for await line in stream { pipe.put(line) }
            pipe.put(nil)
        }
    }

    /// Waits until the alert with this content was printed.
    func shown(_ content: String) async {
        _ = presenter
        while !printed.contains(content) { _ = await printing.wait() }
    }
}

/// Passes lines from a test to the thread that reads them.
private final class LinePipe: Sendable {
    private let lines = Mutex<[String?]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ line: String?) {
        lines.withLock { $0.append(line) }
        count.signal()
    }

    func next() -> String? {
        count.wait()
        return lines.withLock { $0.removeFirst() }
    }
}
