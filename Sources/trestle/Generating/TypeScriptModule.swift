import BridgeJSON

/// TypeScript code that uses the library `trestle-bridge`: for each task its types and a function.
struct TypeScriptModule {
    /// Returns the module's text.
    ///
    /// - Parameter descriptions: The daemon's descriptions of the tasks, in the order of the output.
    static func text(_ descriptions: [JSON], header: [String]) -> String {
        var names = GeneratedNames(reserved: reserved)
        let tasks = descriptions.map { description in
            GeneratedTask(description, &names) { name, names in names.take(NameWords.camel(name)) }
        }
        let body = tasks.flatMap(section).joined(separator: "\n")
        let imported = ["Bridge", "CallSettings", "JSONValue", "StreamValue"].filter { body.contains($0) }
        var text = header.map { $0.isEmpty ? "//\n" : "// \($0)\n" }.joined() + "\n"
        guard !tasks.isEmpty else { return text + "export {};\n" }
        text += "import type { \(imported.joined(separator: ", ")) } from \"trestle-bridge\";\n\n"
        return text + body
    }

    private static func section(_ task: GeneratedTask) -> [String] {
        task.optionTypes.map { declaration($0, isInput: true) }
            + task.resultTypes.map { declaration($0, isInput: false) } + [function(task)]
    }

    // MARK: Functions

    private static func function(_ task: GeneratedTask) -> String {
        let types = [task.result, task.options] + (task.progress.map { [$0] } ?? [])
        let settings = task.progress.map { "CallSettings<\($0)>" } ?? "CallSettings"
        let absent = task.isCallableWithoutOptions ? " = {}" : ""
        return comment(task.summary.isEmpty ? "Calls \(task.name)." : task.summary, indent: "") + """
            export function \(task.function)(
                bridge: Bridge, options: \(task.options)\(absent), settings?: \(settings)
            ): Promise<\(task.result)> {
                return bridge.call<\(types.joined(separator: ", "))>(
                    \(GeneratedText.quoted(task.name)), options, settings);
            }

            """
    }

    // MARK: Types

    /// Returns the declaration of a type.
    ///
    /// - Parameter isInput: Whether programs create values of the type, as opposed to receiving them.
    private static func declaration(_ declaration: TypeDeclaration, isInput: Bool) -> String {
        let note = comment(declaration.note, indent: "")
        let declaration = isInput ? declaration : declaration.withStreamsAsStrings
        switch declaration.content {
        case .alias(let shape): return "\(note)export type \(declaration.name) = \(type(shape, isInput));\n"
        case .object(let members, let isExtensible):
            // A type alias and not an interface, because only values of an alias can be passed as an object with any
            // keys.
            var text = "\(note)export type \(declaration.name) = {\n"
            for member in members {
                text += comment(member.note, indent: indent)
                text += "\(indent)\(key(member.key))\(member.isRequired ? "" : "?"): \(type(member.shape, isInput));\n"
            }
            if isExtensible { text += "\(indent)[key: string]: unknown;\n" }
            return text + "};\n"
        }
    }

    private static let indent = "    "

    private static func type(_ shape: TypeShape, _ isInput: Bool) -> String {
        switch shape {
        case .unknown: isInput ? "unknown" : "JSONValue"
        case .null: "null"
        case .boolean: "boolean"
        case .integer, .number: "number"
        case .string: "string"
        case .stream: "StreamValue | ReadableStream<Uint8Array> | string"
        case .literal(.string(let text)): GeneratedText.quoted(text)
        case .literal(let value): value.text
        case .array(let items): "Array<\(type(items, isInput))>"
        // An interface has no index signature; only `any` accepts one.
        case .map(.unknown) where isInput: "{ [key: string]: any }"
        case .map(let values): "{ [key: string]: \(type(values, isInput)) }"
        case .named(let name): name
        case .union(let parts): parts.map { type($0, isInput) }.joined(separator: " | ")
        }
    }

    private static func key(_ key: String) -> String {
        let isName =
            !key.isEmpty && key.utf8.first.map { !(0x30...0x39).contains($0) } == true
            && key.utf8.allSatisfy(isWord)
        return isName ? key : GeneratedText.quoted(key)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"): true
        default: false
        }
    }

    /// Returns a documentation comment; empty if there is no text.
    private static func comment(_ note: String, indent: String) -> String {
        // Splits any comment end in the text.
        let lines = GeneratedText.lines(note).map { $0.replacing("*/", with: "* /") }
        switch lines.count {
        case 0: return ""
        case 1: return "\(indent)/** \(lines[0]) */\n"
        default: return "\(indent)/**\n" + lines.map { "\(indent) * \($0)\n" }.joined() + "\(indent) */\n"
        }
    }

    /// Words that cannot be names of functions in a module, or that have a meaning in types.
    private static let reserved: Set<String> = [
        "Array", "Bridge", "CallSettings", "JSONValue", "Promise", "ReadableStream", "StreamValue", "Uint8Array", "any",
        "arguments", "as", "async", "await",
        "boolean",
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum",
        "eval", "export", "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
        "instanceof", "interface", "let", "new", "null", "number", "package", "private", "protected", "public",
        "require", "exports", "module", "return", "static", "string", "super", "switch", "symbol", "this", "throw",
        "true", "try", "type", "typeof", "undefined", "unknown", "var", "void", "while", "with", "yield", "never",
        "object", "bigint",
    ]
}
