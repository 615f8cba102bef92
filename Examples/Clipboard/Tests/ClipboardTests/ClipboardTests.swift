import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import ClipboardPlugin

@Test("The plugin passes its own check")
func conforms() throws {
    try makeClipboard().check()
}

@Suite("A clipboard", .timeLimit(.minutes(1)))
struct ClipboardTests {
    @Test("A written text can be read, and is offered until the next text or the daemon's end")
    func writing() async throws {
        let tool = try FakeTool(FakeTool.working)
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        let text = "héllo 弹 🎛\n\u{0} \"\\"
        #expect(try await page.call("clipboard.write", ["text": .string(text)]) == [:])
        #expect(try await page.call("clipboard.read") == ["text": .string(text)])
        let first = try await tool.pids()[0]
        #expect(kill(first, 0) == 0)

        try await page.call("clipboard.write", ["text": "next"])
        try await end(of: first)
        let second = try await tool.pids(2)[1]
        #expect(kill(second, 0) == 0)
        await bridge.stop()
        #expect(kill(second, 0) != 0)
    }

    @Test("A text of hundreds of kilobytes passes both ways")
    func large() async throws {
        let tool = try FakeTool(FakeTool.working)
        let bridge = try await tool.bridge(["text_bytes": 400_000])
        let page = await bridge.session()
        let text = JSON.string(String(repeating: "弹", count: 100_000))
        try await page.call("clipboard.write", ["text": text])
        #expect(try await page.call("clipboard.read") == ["text": text])
        await bridge.stop()
    }

    @Test("A text is offered again if its process was ended")
    func renewing() async throws {
        let tool = try FakeTool(
            """
            case "$*" in *TARGETS) echo "Error: target TARGETS not available" >&2; exit 1 ;; esac
            \(FakeTool.working)
            """)
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        try await page.call("clipboard.write", ["text": "kept"])
        kill(try await tool.pids()[0], SIGTERM)
        let second = try await tool.pids(2)[1]
        #expect(try await page.call("clipboard.read") == ["text": "kept"])
        await bridge.stop()
        try await end(of: second)
    }

    @Test("Clearing leaves no process")
    func clearing() async throws {
        let tool = try FakeTool(FakeTool.working)
        let bridge = try await tool.bridge()
        let page = await bridge.session()
        try await page.call("clipboard.write", ["text": "secret"])
        #expect(try await page.call("clipboard.clear") == [:])
        for pid in try await tool.pids(2) { try await end(of: pid) }
        #expect(tool.contents("text") == "")
        await bridge.stop()
    }

    @Test("The process that keeps a selection has none of the daemon's descriptors open")
    func descriptors() async throws {
        let tool = try FakeTool(FakeTool.working)
        let bridge = try await tool.bridge()
        let others = (0..<10).map { _ in open("/dev/null", O_RDONLY) }
        defer { for other in others { close(other) } }
        try await bridge.session().call("clipboard.write", ["text": "a"])
        let pid = try await tool.pids()[0]
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").sorted() == ["0", "1", "2"])
        await bridge.stop()
    }

    @Test("Invalid options are refused")
    func options() async throws {
        let tool = try FakeTool(FakeTool.working)
        let bridge = try await tool.bridge(["text_bytes": 4])
        let page = await bridge.session()
        await expect("options.invalid") { try await page.call("clipboard.read", ["selection": "secondary"]) }
        await expect("options.invalid") { try await page.call("clipboard.write", [:]) }
        await expect("clipboard.too_large") { try await page.call("clipboard.write", ["text": "弹弹"]) }
        #expect(tool.contents("pids") == "")
        await bridge.stop()
    }

    @Test("Settings out of their range are refused", arguments: ["timeout_ms", "text_bytes"])
    func settings(_ key: String) async throws {
        await expect("configuration.invalid") {
            _ = try await TestBridge.start(makeClipboard(), configuration: ["clipboard": .object([key: 0])])
        }
    }
}
