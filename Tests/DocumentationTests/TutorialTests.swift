import BridgeJSON
import Foundation
import Testing

@Suite("docs/tutorial.md", .serialized, .timeLimit(.minutes(10)))
struct TutorialTests {
    @Test("In Swift, every command and every file of the page does what the page says, without a network")
    func swift() throws { try follow("In Swift") }

    @Test("In C, every command and every file of the page does what the page says")
    func c() throws { try follow("In C") }

    @Test("In Python, every command and every file of the page does what the page says")
    func python() throws { try follow("In Python") }

    @Test(
        "In a shell script, every command and every file of the page does what the page says",
        .enabled(if: Program.exists("jq"), "needs jq"))
    func shell() throws { try follow("In a shell script") }

    private func follow(_ heading: String) throws {
        let page = try Page("docs/tutorial.md")
        let blocks = try page.blocks(under: heading)
        #expect(blocks.count > 8)
        // What somebody does here is what the page has said.
        let first = try #require(blocks.first?.line), last = try #require(blocks.last?.line)
        let text = page.lines[..<last]
        #expect(text[..<first].suffix(5).contains { $0.contains("Begin in an empty folder.") })
        #expect(text.suffix(5).contains { $0.contains("in the first terminal with ^C") })
        let reader = try TutorialReader()
        for block in blocks {
            do { try reader.follow(block) } catch { throw Failure("docs/tutorial.md:\(block.line): \(error)") }
        }
        #expect(reader.isFinished, "the daemon's socket is still there")
    }
}

extension Page {
    /// The blocks of a section.
    func blocks(under heading: String) throws -> [Block] {
        guard let start = lines.firstIndex(of: "## \(heading)") else { throw Failure("there is no heading \(heading)") }
        let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        return blocks.filter { start < $0.line && $0.line <= end }
    }
}

/// Somebody who follows the tutorial, in a folder of his own. Blocking.
///
/// A block's language is followed by what is to be done with it: `sh` is a command, `sh stays` one that goes on in the
/// first terminal, and `sh stopped` one for which that has been stopped with ^C; `text` is what the command before it
/// printed, `text dev` what the first terminal prints next; `LANGUAGE PATH` is a file to be written, `LANGUAGE PATH is`
/// one that must be there and just so.
private final class TutorialReader {
    private static let socketPath = "/tmp/greet.sock"
    private let folder: String
    private var printed = ""
    private var development: StayingCommand?

    init() throws {
        // Short, because a socket's path has 107 bytes at the most.
        var template = Array("/tmp/trestle-docs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no folder can be made in /tmp") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func follow(_ block: Page.Block) throws {
        let words = block.info.split(separator: " ").map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("sh", nil): printed = try run(block.text)
        case ("sh", "stopped"):
            try development?.interrupt()
            development = nil
            printed = try run(block.text)
        case ("sh", "stays"): development = try StayingCommand(command(block.text))
        case ("text", nil): try compare(block.text)
        case ("text", "dev"):
            guard let development else { throw Failure("nothing runs in the first terminal") }
            for line in block.lines { try development.says(line) }
        case (_, let path?) where words.last == "is":
            let found = try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
            guard found == block.text + "\n" else { throw Failure("the file is another:\n\(found)") }
        case (_, let path?): try write(block.text + "\n", to: "\(folder)/\(path)")
        default: throw Failure("it is not said what is to be done with a block of \(block.info)")
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
        guard isEqual else { throw Failure("instead came:\n\(printed)") }
    }

    private func command(_ text: String) -> Process {
        let process = Process()
        let build = DaemonProcess.buildFolder.path(percentEncoded: false)
        let environment = ProcessInfo.processInfo.environment
        process.environment = environment.merging(["PATH": "\(build):\(environment["PATH"] ?? "")"]) { $1 }
        process.executableURL = URL(filePath: "/bin/sh")
        let script = text.replacing(Self.socketPath, with: "\(folder)/s")
        // The one that stays is told to end, and not a shell around it.
        process.arguments = ["-ec", text.contains("\n") ? script : "exec \(script)"]
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private func run(_ text: String) throws -> String {
        let process = command(text)
        let output = Pipe()
        let errors = FileManager.default.createFile(atPath: "\(folder)/errors", contents: nil)
        process.standardOutput = output
        process.standardError = errors ? FileHandle(forWritingAtPath: "\(folder)/errors") : nil
        try process.run()
        let printed = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let complaint = (try? String(contentsOfFile: "\(folder)/errors", encoding: .utf8)) ?? ""
            throw Failure("\(text) ended with \(process.terminationStatus):\n\(printed)\(complaint)")
        }
        return printed
    }

    /// Whether nothing is left of what stayed.
    var isFinished: Bool { development == nil && !FileManager.default.fileExists(atPath: "\(folder)/s") }
}

/// A command that goes on until it is interrupted, and what it prints.
private final class StayingCommand {
    private let process: Process
    private let output = Pipe()
    private var rest = ""
    private var said: [String] = []

    init(_ process: Process) throws {
        self.process = process
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit {
        if process.isRunning {
            process.interrupt()
            process.waitUntilExit()
        }
    }

    /// Reads on until a line is as the pattern says, in which … stands for anything.
    func says(_ pattern: String) throws {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false).map(String.init)
        while true {
            while let end = rest.firstIndex(of: "\n") {
                let line = String(rest[..<end])
                rest = String(rest[rest.index(after: end)...])
                said.append(line)
                if parts.count == 1
                    ? line == pattern : line.hasPrefix(parts[0]) && line.hasSuffix(parts[parts.count - 1])
                {
                    return
                }
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else {
                throw Failure("the first terminal did not say \(pattern), but:\n\(said.joined(separator: "\n"))")
            }
            rest += String(decoding: more, as: UTF8.self)
        }
    }

    func interrupt() throws {
        process.interrupt()
        process.waitUntilExit()
        guard process.terminationStatus == 130 else {
            throw Failure("the first terminal's command ended with \(process.terminationStatus)")
        }
    }
}
