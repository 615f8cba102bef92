import BridgeJSON
import Foundation
import TestSupport
import Testing

extension Page {
    /// Returns the blocks of a section.
    func blocks(under heading: String) throws -> [Block] {
        guard let start = lines.firstIndex(of: "## \(heading)") else {
            throw TestFailure("there is no heading \(heading)")
        }
        let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        return blocks.filter { start < $0.line && $0.line <= end }
    }
}

/// A reader that follows a page, in its own folder. Blocking.
///
/// The language of a block is followed by an instruction: `sh` is a command, `sh stays` a command that keeps running in
/// the first terminal, `sh stopped` a command before which that one is stopped with ^C, and `sh fails` a command that
/// fails. `text` is the output of the previous command, `text dev` the next output of the first terminal, with `$PWD`
/// for the reader's folder. `LANGUAGE PATH` is a file to write, `LANGUAGE PATH is` a file that must exist with this
/// content.
final class TutorialReader {
    private static let socketPath = "/tmp/greet.sock"
    private let place: TemporaryFolder
    private var folder: String { place.path }
    /// The folder as the programs see it.
    private var realFolder: String { URL(filePath: folder).resolvingSymlinksInPath().path(percentEncoded: false) }
    private var printed = ""
    private var development: StayingCommand?

    private init() throws { place = try TemporaryFolder() }

    /// Follows a section of a page.
    static func follow(_ path: String, _ heading: String) throws {
        let page = try Page(path)
        let blocks = try page.blocks(under: heading)
        #expect(blocks.count > 6)
        // Checks that the page contains the steps that this reader performs by itself.
        let first = try #require(blocks.first?.line), last = try #require(blocks.last?.line)
        let text = page.lines[..<last]
        #expect(text[..<first].suffix(5).contains { $0.contains("Begin in an empty folder.") })
        #expect(text.suffix(5).contains { $0.contains("in the first terminal with ^C") })
        let reader = try TutorialReader()
        for block in blocks {
            do { try reader.follow(block) } catch { throw TestFailure("\(path):\(block.line): \(error)") }
        }
        #expect(reader.isFinished, "the daemon's socket is still there")
    }

    private func follow(_ block: Page.Block) throws {
        let words = block.info.split(separator: " ").map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("sh", nil): printed = try run(block.text)
        case ("sh", "fails"): try runFailing(block.text)
        case ("sh", "stopped"):
            try development?.interrupt()
            development = nil
            printed = try run(block.text)
        case ("sh", "stays"):
            development = try StayingCommand(command(block.text), environment: Self.environment, in: folder)
        case ("text", nil): try compare(block.text)
        case ("text", "dev"):
            guard let development else { throw TestFailure("nothing runs in the first terminal") }
            for line in block.lines { try development.says(line.replacing("$PWD", with: realFolder)) }
        case (_, let path?) where words.last == "is":
            let found = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
            guard found == block.text + "\n" else { throw TestFailure("the file is another:\n\(found)") }
        case (_, let path?): try write(block.text + "\n", to: "\(folder)/\(path)")
        default: throw TestFailure("it is not said what is to be done with a block of \(block.info)")
        }
    }

    /// Writes a file in place, so that its permissions stay.
    private func write(_ text: String, to path: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Compares the output of the last command. JSON may be indented for a terminal and on one line in a pipe.
    private func compare(_ text: String) throws {
        let isEqual =
            if let wanted = try? JSON(parsing: text) { try JSON(parsing: printed) == wanted } else {
                printed == text + "\n"
            }
        guard isEqual else { throw TestFailure("instead came:\n\(printed)") }
    }

    /// Returns the arguments for /bin/sh.
    private func command(_ text: String) -> [String] {
        let script = text.replacing(Self.socketPath, with: "\(folder)/s")
        // With `exec` the command that keeps running receives the signal, not a shell around it.
        return ["-ec", text.contains("\n") ? script : "exec \(script)"]
    }

    private func run(_ text: String) throws -> String {
        let run = try TestSupport.run(
            "/bin/sh", command(text), environment: Self.environment, folder: folder, timeout: .seconds(900))
        guard run.end == .exited(0) else {
            throw TestFailure("\(text) ended with \(run.end):\n\(run.output)\(run.errors)")
        }
        return run.output
    }

    private func runFailing(_ text: String) throws {
        let run = try TestSupport.run("/bin/sh", command(text), environment: Self.environment, folder: folder)
        guard run.end != .exited(0) else { throw TestFailure("\(text) did not fail:\n\(run.output)") }
    }

    /// The environment of this process, with the built programs first in PATH.
    private static var environment: [String] {
        let build = DaemonProcess.buildFolder.path(percentEncoded: false)
        let own = ProcessInfo.processInfo.environment
        return own.merging(["PATH": "\(build):\(own["PATH"] ?? "")"]) { $1 }.map { "\($0.key)=\($0.value)" }
    }

    /// Whether the command that kept running has ended and its socket is removed.
    var isFinished: Bool { development == nil && !FileManager.default.fileExists(atPath: "\(folder)/s") }
}
