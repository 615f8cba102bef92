import BridgeJSON

/// Python code that uses the package `trestle_bridge`: for each task its types, a function, and an asyncio function.
struct PythonModule {
    /// Returns the module's text.
    ///
    /// - Parameter descriptions: The daemon's descriptions of the tasks, in the order of the output.
    static func text(_ descriptions: [JSON], header: [String]) -> String {
        var names = GeneratedNames(reserved: PythonWords.reserved)
        let tasks = descriptions.map { description in
            GeneratedTask(description, &names) { name, names in
                names.take(NameWords.snake(name), endings: [asyncEnding])
            }
        }
        let types = Set(tasks.flatMap { $0.optionTypes + $0.resultTypes }.map(\.name))
        var body = ""
        for task in tasks {
            for (declarations, isInput) in [(task.optionTypes, true), (task.resultTypes, false)] {
                for declaration in declarations {
                    body += "\n\n" + PythonTypes.text(declaration, isInput: isInput, names: &names, types: types)
                }
            }
            body += "\n\n" + function(task, isAsync: false) + "\n\n" + function(task, isAsync: true)
        }
        return docstring(header.joined(separator: "\n"), indent: "", isPlain: true) + imports(body) + absence(body)
            + body
    }

    /// The suffix of asyncio functions.
    private static let asyncEnding = "_async"

    private static func imports(_ body: String) -> String {
        let typing = ["Any", "Callable", "Literal", "Optional", "TypeAlias", "TypedDict", "Union"]
            .filter { body.contains($0) }
        guard !typing.isEmpty else { return "" }
        return """

            from typing import \(typing.joined(separator: ", "))

            from trestle_bridge import Bridge, Retry, \(body.contains(PythonTypes.stream) ? "Stream, " : "")aio

            """
    }

    /// Returns the constant that represents missing options; never modified.
    private static func absence(_ body: String) -> String {
        body.contains(noOptions) ? "\n\(noOptions): Any = {}\n" : ""
    }

    private static let noOptions = "_NO_OPTIONS"

    // MARK: Functions

    private static func function(_ task: GeneratedTask, isAsync: Bool) -> String {
        let name = task.function + (isAsync ? asyncEnding : "")
        let absent = task.isCallableWithoutOptions ? " = \(noOptions)" : ""
        var parameters = [
            "bridge: \(isAsync ? "aio.Bridge" : "Bridge")", "options: \(task.options)\(absent)", "*",
            "timeout: Optional[float] = None",
        ]
        var arguments = ["timeout=timeout"]
        if let progress = task.progress {
            parameters.append("on_progress: Optional[Callable[[\(progress)], None]] = None")
            arguments.append("on_progress=on_progress")
        }
        parameters += ["session: Optional[int] = None", "retry: Retry = \"never\""]
        arguments += ["session=session", "retry=retry"]
        return """
            \(isAsync ? "async " : "")def \(name)(
            \(parameters.map { "    \($0),\n" }.joined())) -> \(task.result):
            \(docstring(task.summary.isEmpty ? "Calls \(task.name)." : task.summary, indent: "    "))\
                result: \(task.result) = \(isAsync ? "await " : "")bridge.call(
                    \(GeneratedText.quoted(task.name)), options, \(arguments.joined(separator: ", "))
                )
                return result

            """
    }

    /// Returns text in triple quotes; empty if there is no text.
    ///
    /// - Parameter isPlain: Whether its lines are used without wrapping.
    static func docstring(_ note: String, indent: String, isPlain: Bool = false) -> String {
        let lines = isPlain ? PlainText.lines(note) : GeneratedText.lines(note)
        guard !lines.isEmpty else { return "" }
        // Escapes backslashes and quotes, so that nothing in the text ends the literal.
        let safe = lines.map { $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") }
        if safe.count == 1 { return "\(indent)\"\"\"\(safe[0])\"\"\"\n" }
        let rest = safe.dropFirst().map { $0.isEmpty ? "\n" : "\(indent)\($0)\n" }.joined()
        return "\(indent)\"\"\"\(safe[0])\n\(rest)\(indent)\"\"\"\n"
    }
}

/// Names with a meaning in Python or in the generated modules.
enum PythonWords {
    static let keywords: Set<String> = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
        "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
        "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ]

    /// Names that annotations use.
    static let types: Set<String> = [
        "Any", "Bridge", "Callable", "Literal", "Optional", "Retry", "Stream", "TypeAlias", "TypedDict", "Union", "aio",
        "bool",
        "dict", "float", "int", "list", "object", "str", "type", "_NO_OPTIONS",
    ]

    static let reserved = keywords.union(types).union(["match", "case", "print"])

    /// Returns whether the text can be used as an identifier: ASCII letters, digits and underscores, and not a keyword.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first), !keywords.contains(text) else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}
