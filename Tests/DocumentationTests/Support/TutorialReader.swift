import BridgeJSON
import Foundation
import TestSupport
import Testing

extension Page {
    /// The blocks of a section.
    func blocks(under heading: String) throws -> [Block] {
        guard let start = lines.firstIndex(of: "## \(heading)") else {
            throw TestFailure("there is no heading \(heading)")
        }
        let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        return blocks.filter { start < $0.line && $0.line <= end }
    }
}

/// Somebody who follows a page, in a folder of its own. Blocking.
///
/// A block's language is followed by what is to be done with it: `sh` is a command, `sh stays` one that goes on in the
/// first terminal, `sh stopped` one for which that has been stopped with ^C, and `sh fails` one that fails; `text` is
/// what the command before it printed, `text dev` what the first terminal prints next, `$PWD` being the reader's
/// folder; `LANGUAGE PATH` is a file to be written, `LANGUAGE PATH is` one that must be there and just so.
final class TutorialReader {
    private static let socketPath = "/tmp/greet.sock"
    private let place: TemporaryFolder
    private var folder: String { place.path }
    /// As the programs see it.
    private var realFolder: String { URL(filePath: folder).resolvingSymlinksInPath().path(percentEncoded: false) }
    private var printed = ""
    private var development: StayingCommand?

    private init() throws { place = try TemporaryFolder() }

    /// Does what a section of a page says.
    static func follow(_ path: String, _ heading: String) throws {
        let page = try Page(path)
        let blocks = try page.blocks(under: heading)
        #expect(blocks.count > 6)
        // What somebody does here is what the page has said.
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

    /// In place, so that its rights stay.
    private func write(_ text: String, to path: String) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// What a terminal indents is one line in a pipe.
    private func compare(_ text: String) throws {
        let isEqual =
            if let wanted = try? JSON(parsing: text) { try JSON(parsing: printed) == wanted } else {
                printed == text + "\n"
            }
        guard isEqual else { throw TestFailure("instead came:\n\(printed)") }
    }

    /// The arguments for /bin/sh.
    private func command(_ text: String) -> [String] {
        let script = text.replacing(Self.socketPath, with: "\(folder)/s")
        // The one that stays gets the signal to end, and not a shell around it.
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

    /// This process's, with the programs that were built first.
    private static var environment: [String] {
        let build = DaemonProcess.buildFolder.path(percentEncoded: false)
        let own = ProcessInfo.processInfo.environment
        return own.merging(["PATH": "\(build):\(own["PATH"] ?? "")"]) { $1 }.map { "\($0.key)=\($0.value)" }
    }

    /// Whether nothing is left of what stayed.
    var isFinished: Bool { development == nil && !FileManager.default.fileExists(atPath: "\(folder)/s") }
}
