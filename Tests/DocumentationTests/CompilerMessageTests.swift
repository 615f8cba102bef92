import Foundation
import TestSupport
import Testing

@Suite("Compiler messages for a first task, in docs/plugins.md", .timeLimit(.minutes(30)))
struct CompilerMessageTests {
    private static let mistakes: [(task: String, message: String)] = [
        (task(options: "Sendable"), "possibly intended match 'Greet.Options' does not conform to 'Decodable'"),
        (
            "final class Book { var names: [String] = [] }\n" + task(more: "let book = Book()"),
            "stored property 'book' of 'Sendable'-conforming struct 'Greet' has non-Sendable type 'Book'"
        ),
        (task(body: "let size = call.blocking { 3 }"), "expression is 'async' but is not marked with 'await'"),
        (
            task(body: "if options.who.isEmpty { return Result(greeting: options.who.count) }"),
            "cannot convert value of type 'Int' to expected argument type 'String'"
        ),
        (
            task(run: "run(options: Options, call: Call)"),
            "has different argument labels from those required by protocol 'BridgeTask' ('run')"
        ),
        (task(name: ""), "protocol requires property 'name' with type 'String'"),
    ]

    private static func task(
        name: String = #"static let name = "greet""#, options: String = "Codable, Sendable", more: String = "",
        run: String = "run(_ options: Options, _ call: Call)", body: String = ""
    ) -> String {
        """
        struct Greet: BridgeTask {
            \(name)
            static let summary = "Greets somebody by name."
            struct Options: \(options) { var who: String }
            struct Result: Codable, Sendable { var greeting: String }
            \(more)
            func \(run) async throws -> Result {
                \(body)
                return Result(greeting: "Hello, \\(options.who)")
            }
        }
        """
    }

    /// Type-checks a program with this task. Returns the output of the compiler.
    private func check(_ task: String) throws -> ProgramRun {
        let folder = try TemporaryFolder()
        let file = try folder.write("import TaskKit\n\n\(task)\n", to: "greet.swift")
        let build = DaemonProcess.buildFolder.path(percentEncoded: false)
        let modules = ["CBase64", "CTaskPlugin", "CThread"].flatMap {
            ["-Xcc", "-fmodule-map-file=\(build)/\($0).build/module.modulemap"]
        }
        return try TestSupport.run(
            "/usr/bin/env",
            ["swiftc", "-swift-version", "6", "-typecheck", "-I", "\(build)/Modules"] + modules + [file],
            timeout: .seconds(120))
    }

    @Test("The task without mistakes compiles, and each mistake gets the message on the page")
    func messages() throws {
        let right = try check(Self.task())
        #expect(right.end == .exited(0), "\(right.errors)")
        let page = try Page("docs/plugins.md").lines.joined(separator: "\n")
        for (task, message) in Self.mistakes {
            let run = try check(task)
            #expect(run.errors.contains(message), "\(run.errors)")
            #expect(page.contains(message), "\(message)")
        }
    }
}
