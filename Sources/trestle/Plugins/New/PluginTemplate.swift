/// The contents of a new plugin's folder.
struct PluginTemplate: Sendable {
    /// A file.
    struct File: Sendable, Equatable {
        /// The path relative to the folder.
        var path: String
        var text: String
        var isExecutable = false
    }

    let name: PluginName
    let paths: TrestlePaths

    /// Returns the files for a language.
    func files(_ language: PluginLanguage) -> [File] {
        switch language {
        case .swift: swiftFiles
        case .c: cFiles
        case .python: pythonFiles
        case .sh: shellFiles
        }
    }

    /// Returns the commands that build, test, check and run the plugin in its folder, each with its purpose.
    func commands(_ language: PluginLanguage) -> [(command: String, meaning: String)] {
        let build: [(String, String)] =
            switch language {
            case .swift: [("swift build", "builds it"), ("swift test", "tests it")]
            case .c: [("make", "builds it"), ("make test", "tests it")]
            case .python, .sh: [("make test", "tests it")]
            }
        return build + [
            (
                "\(shell(paths.program)) plugin check . --call \(name.text)='\(Self.sampleOptions)'",
                "checks it against the rules for plugins"
            ),
            ("\(shell(paths.program)) plugin dev", "runs it, and builds and reloads it with every save"),
            ("sudo \(shell(paths.program)) plugin install .", "builds it, if necessary, and installs it permanently"),
        ]
    }

    /// Valid options for the first task.
    static let sampleOptions = #"{"who": "World"}"#

    /// Returns a path in shell syntax.
    func shell(_ path: String) -> String {
        let plain = path.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-+".unicodeScalars.contains($0)
        }
        return plain
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// Returns a path as the value of a Makefile variable, quoted for the shell of the recipes that use it.
    func make(_ path: String) -> String {
        shell(path).reduce(into: "") { $0 += $1 == "$" ? "$$" : $1 == "#" ? "\\#" : "\($1)" }
    }

    /// Returns a string literal of TOML or JSON.
    func quoted(_ text: String) -> String {
        "\"" + text.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : "\($1)" } + "\""
    }

    /// Returns the page that describes the folder.
    func readme(_ language: PluginLanguage, files: [(name: String, meaning: String)], further: String) -> File {
        let lines = commands(language).map { command, meaning in "# \(meaning)\n\(command)" }
        let table = files.map { "| `\($0.name)` | \($0.meaning) |" }.joined(separator: "\n")
        return File(
            path: "README.md",
            text: """
                # \(name.text)

                A plugin of Trestle's daemon, with one task: `\(name.text)` greets somebody by name.

                | file | what it is |
                | --- | --- |
                \(table)

                ```sh
                \(lines.joined(separator: "\n"))
                ```

                `plugin dev` prints the socket of its daemon. From another terminal:

                ```sh
                \(shell(paths.program)) --socket SOCKET call \(name.text) who=World
                ```

                \(further)

                """)
    }
}
