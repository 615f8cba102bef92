import BridgeJSON

/// A task for generated code.
struct GeneratedTask: Sendable {
    /// The name of the task on the bridge.
    var name: String
    var summary: String
    var function: String
    /// The name of the type of its options.
    var options: String
    var result: String
    /// The name of the type of its intermediate results; `nil` if it has none.
    var progress: String?
    /// Whether `{}` is valid as options.
    var isCallableWithoutOptions: Bool
    var optionTypes: [TypeDeclaration]
    /// The types of result and progress.
    var resultTypes: [TypeDeclaration]

    /// - Parameters:
    ///   - description: The description of the task by `bridge.describe`.
    ///   - names: The names that are used in the module.
    ///   - function: Returns the name of the function.
    init(_ description: JSON, _ names: inout GeneratedNames, function: (String, inout GeneratedNames) -> String) {
        name = description["name"]?.stringValue ?? ""
        summary = description["summary"]?.stringValue ?? ""
        self.function = function(name, &names)
        let type = NameWords.pascal(name)
        options = names.take(type + "Options")
        result = names.take(type + "Result")
        optionTypes = SchemaShapes.declare(
            description["options"] ?? true, as: options, note: "The options of \(name).", &names)
        resultTypes = SchemaShapes.declare(
            description["result"] ?? true, as: result, note: "The result of \(name).", &names)
        if let schema = description["progress"], schema != .null {
            let progress = names.take(type + "Progress")
            self.progress = progress
            resultTypes += SchemaShapes.declare(
                schema, as: progress, note: "An intermediate result of \(name).", &names)
        }
        isCallableWithoutOptions = Self.takesNothing(.named(options), optionTypes)
    }

    /// Returns whether an object without members is valid.
    private static func takesNothing(_ shape: TypeShape, _ types: [TypeDeclaration]) -> Bool {
        switch shape {
        case .unknown, .map: return true
        case .union(let parts): return parts.contains { takesNothing($0, types) }
        case .named(let name):
            switch types.first(where: { $0.name == name })?.content {
            case .object(let members, _): return !members.contains(where: \.isRequired)
            // An alias is the first type and nothing refers to it, so this recursion ends.
            case .alias(let shape): return takesNothing(shape, types)
            case nil: return false
            }
        default: return false
        }
    }
}

/// The options of a generated module: language, daemon and tasks.
struct GeneratedModule {
    enum Language: String, CaseIterable, Sendable { case typescript, python, capacitor }

    var language: Language
    /// The name and version, such as "trestled 0.1.0".
    var daemon: String
    /// The patterns of the tasks; empty for all tasks.
    var patterns: [String]

    /// Returns the module's text, which does not depend on the order of the tasks.
    func text(_ descriptions: [JSON]) -> String {
        let sorted = descriptions.sorted { utf8Name($0).lexicographicallyPrecedes(utf8Name($1)) }
        switch language {
        case .typescript: return TypeScriptModule.text(sorted, header: header)
        case .python: return PythonModule.text(sorted, header: header)
        case .capacitor: return CapacitorHeaders.text(sorted, header: header)
        }
    }

    private func utf8Name(_ description: JSON) -> [UInt8] { Array((description["name"]?.stringValue ?? "").utf8) }

    /// The comment at the top of the module.
    var header: [String] {
        let choice = patterns.isEmpty ? "" : " --task " + patterns.map(ShellWord.quoted).joined(separator: " ")
        let content =
            language == .capacitor
            ? "The tasks of Trestle's daemon as methods of Capacitor's plugins."
            : "Typed calls of the tasks of Trestle's daemon."
        return [
            content,
            "",
            "Do not edit: generated from the tasks of \(GeneratedText.line(daemon)) by",
            "",
            "    trestle generate --language \(language.rawValue)\(GeneratedText.line(choice))",
            "",
            "With --check FILE, the command checks whether the file is up to date.",
        ]
    }
}

/// A word in shell syntax.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty
            && word.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || "0123456789._-/:".utf8.contains($0)
            }
        if isPlain { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
