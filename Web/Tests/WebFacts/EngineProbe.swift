import Glibc
import TestSupport

/// Pages in bare WebKitGTK, shown by the program engine-probe.
final class EngineProbe {
    /// Whether this machine has the required programs.
    static var isPossible: Bool { VirtualScreen.isPossible && exists(program) }
    /// The requirements, as text.
    static let needs = "needs Xvfb, and engine-probe, built"

    private static let program: String = {
        let arguments = CommandLine.arguments
        let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments.first ?? ""
        return bundle.split(separator: "/").dropLast().reduce(into: "") { $0 += "/\($1)" } + "/engine-probe"
    }()

    /// The script that defines the function by which a page reports a text.
    static let report = "const report = (text) => webkit.messageHandlers.probe.postMessage(String(text));"

    private let folder: TemporaryFolder
    private let screen: VirtualScreen

    init() throws {
        folder = try TemporaryFolder()
        screen = try VirtualScreen((640, 480))
    }

    /// Adds a page with a script that may call `report`.
    func page(_ name: String, _ script: String, body: String = "") throws {
        try folder.write(
            "<!doctype html><title>\(name)</title><p>text\(body)<script>\(Self.report)\(script)</script>",
            to: name)
    }

    /// Adds a file.
    func file(_ name: String, _ text: String) throws { try folder.write(text, to: name) }

    /// Returns the path of a file.
    func path(_ name: String) -> String { folder.file(name) }

    /// Shows a page until it reports `end` or its program ends otherwise.
    ///
    /// - Parameters:
    ///   - uri: The page: `app://HOST/NAME` or `other://HOST/NAME`.
    ///   - options: Options of the program.
    func show(_ uri: String, _ options: String...) throws -> ProgramRun {
        try run(
            Self.program, [folder.path, uri] + options,
            environment: screen.environment + [
                "HOME=\(folder.path)", "XDG_RUNTIME_DIR=\(folder.path)", "GDK_BACKEND=x11", "GSK_RENDERER=cairo",
            ], timeout: .seconds(120))
    }
}

extension ProgramRun {
    /// The texts that the page reported, without the address.
    var reported: [String] {
        output.split(separator: "\n").filter { $0.hasPrefix("message ") }.map { line in
            let text = line.dropFirst("message ".count)
            return String(text[..<(text.firstRange(of: " [")?.lowerBound ?? text.endIndex)])
        }
    }

    /// Returns the texts of the lines of a kind.
    func lines(_ kind: String) -> [String] {
        output.split(separator: "\n").filter { $0.hasPrefix("\(kind) ") }.map { String($0.dropFirst(kind.count + 1)) }
    }
}
