import Foundation
import TaskKit
import TaskKitTesting
import Testing

@testable import ClipboardPlugin

/// A script that replaces xclip, with a folder for the files that it writes.
final class FakeTool {
    let folder: URL

    /// A script that offers its input until it is ended. A file holds the text for any reader.
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

    /// Writes a file in another process. A file that this process has open for writing is for an instant also open in a
    /// child that another test starts. A file that is open for writing cannot be executed.
    private static func write(_ text: String, to file: URL) throws {
        let writer = Process()
        writer.executableURL = URL(filePath: "/bin/sh")
        writer.arguments = ["-c", #"printf %s "$1" > "$2" && chmod 755 "$2""#, "sh", text, file.path()]
        try writer.run()
        writer.waitUntilExit()
        try #require(writer.terminationStatus == 0)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Starts a bridge whose clipboard plugin uses this tool.
    func bridge(_ settings: JSON = [:]) async throws -> TestBridge {
        var section: JSONObject = [
            "display": ":99", "tool": .string(folder.appending(path: "xclip").path()), "timeout_ms": 20_000,
        ]
        for (key, value) in settings.objectValue ?? [:] { section[key] = value }
        return try await TestBridge.start(makeClipboard(), configuration: ["clipboard": .object(section)])
    }

    /// Returns the content of a file that the script wrote; empty if the file does not exist yet.
    func contents(_ name: String) -> String {
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
    }

    /// Returns the processes that have recorded their number, once there are at least `count`.
    func pids(_ count: Int = 1) async throws -> [pid_t] {
        while true {
            let lines = contents("pids").split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if lines.count >= count { return lines.compactMap { pid_t($0) } }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// Waits until a process no longer exists. If it never ends, the test fails with its time limit.
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
