import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import trestle

@Suite("trestle plugin new")
struct NewPluginTests {
    private let paths = TrestlePaths(
        package: "name: \"trestle\", path: \"/src/trestle\"", packageName: "trestle", header: "/usr/include",
        python: "/usr/share/trestle/python", program: "trestle")

    private func template(_ name: String = "qr-scan") throws -> PluginTemplate {
        PluginTemplate(name: try PluginName(name), paths: paths)
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trestle-new-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path(percentEncoded: false))
    }

    @Test("A name is converted to camel case and snake case")
    func names() throws {
        let name = try PluginName("qr-scan_2")
        #expect(name.camel == "QrScan2")
        #expect(name.snake == "qr_scan_2")
    }

    @Test(
        "A name that the daemon would refuse is refused",
        arguments: ["", "9x", "a.b", "a b", "é", "../x", "bridge", "Plugin", String(repeating: "x", count: 65)])
    func badNames(_ text: String) {
        #expect(throws: ValidationError.self) { try PluginName(text) }
    }

    @Test("A name of one of Trestle's own targets is refused for Swift and accepted for other languages")
    func targetsOfTrestle() throws {
        for text in ["echo", "Alert", "login", "persistence", "close-web", "counter", "sysinfo"] {
            let name = try PluginName(text)
            let error = #expect(throws: ValidationError.self) { try name.check(for: .swift) }
            #expect(error?.message.contains("\(name.camel)Plugin") == true)
            for language in PluginLanguage.allCases where language != .swift { try name.check(for: language) }
        }
        try PluginName("greet").check(for: .swift)
    }

    /// Compares with all targets of the package whose names end like the two targets of a new plugin.
    @Test("The names that are refused for Swift are exactly those of the targets in Package.swift")
    func allTargetsOfTrestle() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Package.swift")
        let text = try String(contentsOf: package, encoding: .utf8)
        let literals = text.matches(of: /name: "([A-Za-z]+?)Plugin(Tests)?"/).map { String($0.1) }
        let plugins = text.matches(of: /PluginFolder\(\s*name: "([A-Za-z]+)"/).map { String($0.1) }
        #expect(plugins.count >= 5)
        #expect(Set(literals + plugins) == PluginName.trestlePlugins)
    }

    /// Returns the lines that contain code.
    private func code(_ text: String, comment: String) -> [Substring] {
        text.split(separator: "\n").filter {
            let line = $0.trimmingCharacters(in: .whitespaces)
            return !line.isEmpty && !line.hasPrefix(comment) && line != "}"
        }
    }

    @Test("The program has at most ten lines of code in Swift, Python and sh")
    func tenLines() throws {
        let files = try [PluginLanguage.swift, .python, .sh].flatMap { try template().files($0) }
        let programs = ["Sources/QrScanPlugin/QrScanPlugin.swift", "qr_scan_plugin.py", "qr-scan.sh"]
        for program in programs {
            let text = try #require(files.first { $0.path == program }?.text)
            #expect(code(text, comment: "#").count <= 10, "\(text)")
        }
    }

    @Test("The C program has at most twelve lines of code without string literals")
    func linesOfC() throws {
        let text = try #require(try template().files(.c).first { $0.path == "qr-scan.c" }?.text)
        #expect(code(text, comment: "#").filter { !$0.contains(#"\""#) }.count <= 12, "\(text)")
    }

    @Test(
        "Every file of every language contains the plugin's name, and its README contains the commands",
        arguments: PluginLanguage.allCases)
    func files(_ language: PluginLanguage) throws {
        let template = try template()
        let files = template.files(language)
        let readme = try #require(files.first { $0.path == "README.md" }?.text)
        for (command, _) in template.commands(language) { #expect(readme.contains(command)) }
        for file in files where file.path != ".gitignore" {
            #expect(["qr-scan", "QrScan", "qr_scan"].contains { file.text.contains($0) }, "\(file.path)")
            #expect(file.text.hasSuffix("\n") && !file.text.hasSuffix("\n\n"), "\(file.path)")
        }
    }

    @Test("Paths with special characters are quoted in shells and literals")
    func strangePaths() throws {
        let template = try template()
        #expect(template.shell("/a b/it's") == #"'/a b/it'\''s'"#)
        #expect(template.shell("/usr/bin/x-1.2_y") == "/usr/bin/x-1.2_y")
        #expect(template.make("/usr/lib/x") == "/usr/lib/x")
        #expect(template.quoted(#"a"b\c"#) == #""a\"b\\c""#)
    }

    @Test("A Makefile works if its paths contain spaces, quotes, dollar signs and #", arguments: ["c", "python", "sh"])
    func strangeMakefiles(_ text: String) throws {
        let language = try #require(PluginLanguage(rawValue: text))
        try withFolder { folder in
            let files = FileManager.default
            let strange = "\(folder)/it's $HOME #1 \"x\""
            try files.createDirectory(atPath: strange, withIntermediateDirectories: false)
            let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
                .standardizedFileURL
            for (name, path) in [("include", "Sources/C/CTaskPlugin/include"), ("python", "Clients/Python")] {
                try files.createSymbolicLink(
                    atPath: "\(strange)/\(name)", withDestinationPath: sources.appending(path: path).path)
            }
            // The script writes its arguments to a file in the folder where make runs.
            let script = PluginTemplate.File(
                path: "trestle", text: "#!/bin/sh\necho \"$@\" > asked\n", isExecutable: true)
            try NewFolder.write([script], to: "\(strange)/bin")
            let paths = TrestlePaths(
                package: "", packageName: "trestle", header: "\(strange)/include", python: "\(strange)/python",
                program: "\(strange)/bin/trestle")
            let new = PluginTemplate(name: try PluginName("qr-scan"), paths: paths)
            try NewFolder.write(new.files(language), to: "\(folder)/new")

            let make = try run(
                "/usr/bin/make",
                ["--silent", "-C", "\(folder)/new", "all", "test"].filter { language != .c || $0 != "all" },
                environment: ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" },
                timeout: .seconds(300))
            #expect(make.end == .exited(0), "\(make.errors)")
            let asked = try String(contentsOfFile: "\(folder)/new/asked", encoding: .utf8)
            #expect(asked.hasPrefix("plugin check ") && asked.contains("--call qr-scan={"))
        }
    }

    @Test("A folder is created whole, with executable programs and without leftovers")
    func writing() throws {
        try withFolder { folder in
            let files = try template().files(.swift) + [PluginTemplate.File(path: "run", text: "x", isExecutable: true)]
            try NewFolder.write(files, to: "\(folder)/new/")
            for file in files {
                #expect(try String(contentsOfFile: "\(folder)/new/\(file.path)", encoding: .utf8) == file.text)
            }
            #expect(FileManager.default.isExecutableFile(atPath: "\(folder)/new/run"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["new"])
        }
    }

    @Test("An empty folder is filled; a folder with content and a file stay unchanged")
    func existing() throws {
        try withFolder { folder in
            let files = try template().files(.sh)
            try FileManager.default.createDirectory(atPath: "\(folder)/empty", withIntermediateDirectories: false)
            try NewFolder.write(files, to: "\(folder)/empty")
            let before = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/empty").sorted()
            #expect(throws: UsageFailure.self) { try NewFolder.write(files, to: "\(folder)/empty") }
            #expect(throws: UsageFailure.self) { try NewFolder.write(files, to: "\(folder)/empty/README.md") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/empty").sorted() == before)
            #expect(throws: FileFailure.self) { try NewFolder.write(files, to: "\(folder)/no/such/folder") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["empty"])
        }
    }

    @Test("A new plugin is built against the program's checkout or its installation")
    func foundPaths() throws {
        try withFolder { folder in
            let files = FileManager.default
            let real = URL(filePath: folder).resolvingSymlinksInPath().path(percentEncoded: false)
            for path in ["checkout/Sources/TaskKit", "checkout/.build/x/debug", "usr/bin"] {
                try files.createDirectory(atPath: "\(real)/\(path)", withIntermediateDirectories: true)
            }
            try Data().write(to: URL(filePath: "\(real)/checkout/Package.swift"))
            let built = try TrestlePaths.find(programFolder: "\(real)/checkout/.build/x/debug", package: nil)
            #expect(built.package == "name: \"trestle\", path: \"\(real)/checkout\"")
            #expect(built.header == "\(real)/checkout/Sources/C/CTaskPlugin/include")
            #expect(built.python == "\(real)/checkout/Clients/Python")
            let installed = try TrestlePaths.find(programFolder: "\(real)/usr/bin", package: nil)
            #expect(installed.package == "name: \"trestle\", path: \"\(real)/usr/share/trestle/swift/trestle\"")
            #expect(installed.header == "\(real)/usr/include")
            #expect(throws: UsageFailure.self) { try installed.check(for: .c) }
            #expect(throws: UsageFailure.self) {
                try TrestlePaths.find(programFolder: "\(real)/usr/bin", package: real)
            }
        }
    }

    @Test("A package from a URL is declared as SwiftPM requires")
    func url() throws {
        let paths = try TrestlePaths.find(programFolder: "/usr/bin", package: "https://example.org/a/bridge.git")
        #expect(paths.package == "url: \"https://example.org/a/bridge.git\", branch: \"main\"")
        #expect(paths.packageName == "bridge")
    }
}
