import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import ClipboardPlugin

/// A script in the place of xclip, with a folder for what it leaves behind.
final class FakeTool {
    let folder: URL

    /// Offers what it is given until it is ended, and has it in a file for any reader.
    static let working = """
        case "$*" in
        *-in*)
            echo $$ >> pids
            cat > text.new && mv text.new text
            exec sleep 1000 ;;
        *) if test -e text; then cat text; else echo "Error: target UTF8_STRING not available" >&2; exit 1; fi ;;
        esac
        """

    init(_ script: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "clipboard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = "#!/bin/sh\ncd '\(folder.path())' || exit\n\(script)\n"
        try Self.write(text, to: folder.appending(path: "xclip"))
    }

    /// By another process: what this one has open for writing, a child that another test starts at the same moment has
    /// for an instant too, and no file that is written can be executed.
    private static func write(_ text: String, to file: URL) throws {
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf %s "$1" > "$2" && chmod 755 "$2""#, "sh", text, file.path()]
        try writer.run()
        writer.waitUntilExit()
        try #require(writer.terminationStatus == 0)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A bridge whose clipboard has this tool.
    func bridge(_ settings: JSON = [:]) async throws -> TestBridge {
        var section: JSONObject = [
            "display": ":99", "tool": .string(folder.appending(path: "xclip").path()), "timeout_ms": 20_000,
        ]
        for (key, value) in settings.objectValue ?? [:] { section[key] = value }
        return try await TestBridge.start(makeClipboard(), configuration: ["clipboard": .object(section)])
    }

    /// What the script wrote to a file; empty: nothing yet.
    func contents(_ name: String) -> String {
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
    }

    /// The processes that said that they are there, once there are so many.
    func pids(_ count: Int = 1) async throws -> [pid_t] {
        while true {
            let lines = contents("pids").split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if lines.count >= count { return lines.compactMap { pid_t($0) } }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// Waits until a process no longer exists; a test that waits in vain runs into its time limit.
func end(of pid: pid_t) async throws {
    while kill(pid, 0) == 0 { try await Task.sleep(for: .milliseconds(2)) }
}

/// Expects an error of this code.
@discardableResult
func expect(
    _ code: ErrorCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> BridgeError? {
    do {
        try await body()
        Issue.record("nothing went wrong", sourceLocation: sourceLocation)
    } catch let error as BridgeError {
        #expect(error.code == code, sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}
