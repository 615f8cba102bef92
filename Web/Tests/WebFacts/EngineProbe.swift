import Glibc
import TestSupport

/// Pages in bare WebKitGTK, by the program engine-probe.
final class EngineProbe {
    /// Whether this machine has what it takes.
    static var isPossible: Bool { VirtualScreen.isPossible && exists(program) }
    /// What a machine needs.
    static let needs = "needs Xvfb, and engine-probe, built"

    private static let program: String = {
        let arguments = CommandLine.arguments
        let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments.first ?? ""
        return bundle.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" } + "/engine-probe"
    }()

    /// How a page tells something.
    static let tell = "const tell = (text) => webkit.messageHandlers.probe.postMessage(String(text));"

    private let folder: TemporaryFolder
    private let screen: VirtualScreen

    init() throws {
        folder = try TemporaryFolder()
        screen = try VirtualScreen((640, 480))
    }

    /// Adds a page with a script that may `tell`.
    func page(_ name: String, _ script: String, body: String = "") throws {
        try folder.write(
            "<!doctype html><title>\(name)</title><p>text\(body)<script>\(Self.tell)\(script)</script>",
            to: name)
    }

    /// Adds a file.
    func file(_ name: String, _ text: String) throws { try folder.write(text, to: name) }

    /// The path of a file.
    func path(_ name: String) -> String { folder.file(name) }

    /// Shows a page until it tells `end`, or its program ends otherwise.
    ///
    /// - Parameters:
    ///   - uri: The page: `app://HOST/NAME` or `other://HOST/NAME`.
    ///   - options: Of the program.
    func show(_ uri: String, _ options: String...) throws -> ProgramRun {
        try run(
            Self.program, [folder.path, uri] + options,
            environment: screen.environment + [
                "HOME=\(folder.path)", "XDG_RUNTIME_DIR=\(folder.path)", "GDK_BACKEND=x11", "GSK_RENDERER=cairo",
            ], timeout: .seconds(120))
    }
}

extension ProgramRun {
    /// What the page told, without the address.
    var told: [String] {
        output.split(separator: "\n").filter { $0.hasPrefix("message ") }.map { line in
            let text = line.dropFirst("message ".count)
            return String(text[..<(text.firstRange(of: " [")?.lowerBound ?? text.endIndex)])
        }
    }

    /// The lines of a kind.
    func lines(_ kind: String) -> [String] {
        output.split(separator: "\n").filter { $0.hasPrefix("\(kind) ") }.map { String($0.dropFirst(kind.count + 1)) }
    }
}
