import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import ClipboardPlugin

@Suite("Failures of the clipboard", .timeLimit(.minutes(1)))
struct FailureTests {
    /// Returns the error of a read if the tool behaves like the script.
    private func read(_ script: String, _ code: ErrorCode, _ settings: JSON = [:]) async throws -> BridgeError {
        let tool = try FakeTool(script)
        let bridge = try await tool.bridge(settings)
        let page = await bridge.session()
        let error = await expect(code) { try await page.call("clipboard.read") }
        await bridge.stop()
        return try #require(error)
    }

    @Test("An empty clipboard, a picture and invalid UTF-8 are distinguished")
    func contents() async throws {
        _ = try await read(#"echo "Error: target $6 not available" >&2; exit 1"#, "clipboard.empty")
        let picture = """
            case "$*" in
            *TARGETS) printf 'TARGETS\\nimage/png\\n' ;;
            *) echo "Error: target UTF8_STRING not available" >&2; exit 1 ;;
            esac
            """
        let error = try await read(picture, "clipboard.not_text")
        #expect(error.data == ["targets": ["TARGETS", "image/png"]])
        _ = try await read(#"printf 'h\351llo'"#, "clipboard.not_text")
    }

    @Test("Text without end is cut off at the maximum, and its program is ended")
    func tooLarge() async throws {
        let error = try await read("exec yes", "clipboard.too_large", ["text_bytes": 1_000])
        #expect(error.data == ["maximumBytes": 1_000])
    }

    @Test("Without a display, without the tool, or if the display refuses, the error names the remedy")
    func unavailable() async throws {
        let refused = try await read(#"echo "Error: Can't open display: :99" >&2; exit 1"#, "clipboard.unavailable")
        #expect(refused.message.contains("Can't open display"))
        let missing = try await read("", "clipboard.unavailable", ["tool": "/nowhere/xclip"])
        #expect(missing.message.contains("apt install xclip"))
        #expect(Settings(Section(display: ":7")).display == ":7")
        var settings = Settings()
        settings.display = nil
        let error = #expect(throws: BridgeError.self) { try Xclip(settings) { false } }
        #expect(error?.code == "clipboard.unavailable")
    }

    @Test("A refused write fails with the same error, whatever its length", arguments: [1, 250_000])
    func writeRefused(_ count: Int) async throws {
        let tool = try FakeTool(#"echo "Error: Can't open display: :99" >&2; exit 1"#)
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        await expect("clipboard.unavailable") {
            try await page.call("clipboard.write", ["text": .string(String(repeating: "x", count: count))])
        }
        await bridge.stop()
    }

    /// Returns a text: for a write, one that is larger than the buffer of a pipe.
    private func text(for task: String) -> String {
        String(repeating: "x", count: task == "clipboard.write" ? 250_000 : 1)
    }

    @Test(
        "A program that does not answer is ended; meanwhile the daemon answers other calls",
        arguments: [
            "clipboard.read", "clipboard.write", "clipboard.clear",
        ])
    func hanging(_ task: String) async throws {
        let tool = try FakeTool("echo $$ >> pids; exec sleep 1000")
        let bridge = try await tool.bridge(["timeout_ms": 300])
        let page = await bridge.session()
        let call = await page.begin(task, ["text": .string(text(for: task))])
        try await page.call("bridge.ping")
        let error = await expect("clipboard.no_answer") { _ = try await page.outcome(of: call) }
        #expect(error?.isTransient == true)
        for pid in try await tool.pids() { try await end(of: pid) }
        await bridge.stop()
    }

    @Test(
        "Cancelling ends the program, and the next call succeeds",
        arguments: [
            "clipboard.read", "clipboard.write", "clipboard.clear",
        ])
    func cancelling(_ task: String) async throws {
        let tool = try FakeTool(
            """
            if ! test -e pids; then echo $$ >> pids; exec sleep 1000; fi
            \(FakeTool.working)
            """)
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        let call = await page.begin(task, ["text": .string(text(for: task))])
        let pid = try await tool.pids()[0]
        await page.cancel(call)
        await expect(.callCancelled) { _ = try await page.outcome(of: call) }
        try await end(of: pid)
        try await page.call("clipboard.write", ["text": "after"])
        #expect(try await page.call("clipboard.read") == ["text": "after"])
        await bridge.stop()
    }

    @Test("A process that the tool leaves behind is not waited for, although it holds the output open")
    func leftBehind() async throws {
        let tool = try FakeTool("printf text; sleep 1000 & echo $! >> pids; exit 0")
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        #expect(try await page.call("clipboard.read") == ["text": "text"])
        try await end(of: try await tool.pids()[0])
        await bridge.stop()
    }
}
