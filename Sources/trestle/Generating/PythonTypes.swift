import BridgeJSON

/// Types for Python 3.10 and later. Optional members are in a class of their own, because `NotRequired` requires 3.11.
enum PythonTypes {
    /// The type for the name of a stream; the library contains the class `Stream`.
    static let stream = "Union[Stream, str]"

    /// Returns a type's text.
    ///
    /// - Parameters:
    ///   - isInput: Whether programs create values of the type, as opposed to receiving them.
    ///   - types: The names of all types of the module.
    static func text(
        _ declaration: TypeDeclaration, isInput: Bool, names: inout GeneratedNames, types: Set<String>
    ) -> String {
        let declaration = isInput ? declaration : declaration.withStreamsAsStrings
        switch declaration.content {
        case .alias(let shape):
            let note = GeneratedText.lines(declaration.note).map { "# \($0)\n" }.joined()
            return "\(note)\(declaration.name): TypeAlias = \(type(shape))\n"
        case .object(let members, _):
            return typedDict(declaration, members, names: &names, types: types)
        }
    }

    private static func typedDict(
        _ declaration: TypeDeclaration, _ members: [TypeMember], names: inout GeneratedNames, types: Set<String>
    ) -> String {
        let (required, optional) = (members.filter(\.isRequired), members.filter { !$0.isRequired })
        let note = PythonModule.docstring(declaration.note, indent: indent)
        guard members.allSatisfy({ isPlainKey($0.key, types) }) else {
            return functional(declaration, required, optional, note, names: &names)
        }
        guard !required.isEmpty, !optional.isEmpty else {
            let base = required.isEmpty ? "TypedDict, total=False" : "TypedDict"
            return "class \(declaration.name)(\(base)):\n\(note)\(attributes(members, isFirst: note.isEmpty))"
        }
        let base = names.take("_" + declaration.name + "Required")
        return """
            class \(base)(TypedDict):
            \(attributes(required, isFirst: true))

            class \(declaration.name)(\(base), total=False):
            \(note)\(attributes(optional, isFirst: note.isEmpty))
            """
    }

    private static let indent = "    "

    private static func attributes(_ members: [TypeMember], isFirst: Bool) -> String {
        (isFirst ? "" : "\n")
            + members.map { member in comments(member.note, indent) + "\(indent)\(member.key): \(type(member.shape))\n"
            }
            .joined()
    }

    /// Returns a type whose keys are not identifiers, so they are written in a dictionary.
    private static func functional(
        _ declaration: TypeDeclaration, _ required: [TypeMember], _ optional: [TypeMember], _ note: String,
        names: inout GeneratedNames
    ) -> String {
        var (text, bases) = ("", [String]())
        for (part, members, ending) in [("Required", required, ""), ("Optional", optional, ", total=False")]
        where !members.isEmpty {
            let base = names.take("_" + declaration.name + part)
            bases.append(base)
            text += "\(base) = TypedDict(\n\(indent)\"\(base)\",\n\(indent){\n"
            for member in members {
                text += comments(member.note, indent + indent)
                text += "\(indent)\(indent)\(GeneratedText.quoted(member.key)): \(type(member.shape)),\n"
            }
            text += "\(indent)}\(ending),\n)\n"
        }
        let body = note.isEmpty ? "\(indent)pass\n" : note
        return text + "\n\nclass \(declaration.name)(\(bases.joined(separator: ", "))):\n\(body)"
    }

    /// Returns whether a key can be a class attribute. A key equal to a type's name would hide that type in the
    /// following lines; a key with two leading underscores would be mangled.
    private static func isPlainKey(_ key: String, _ types: Set<String>) -> Bool {
        PythonWords.isIdentifier(key) && !key.hasPrefix("__") && !PythonWords.types.contains(key)
            && !types.contains(key)
    }

    private static func comments(_ note: String, _ indent: String) -> String {
        GeneratedText.lines(note).map { "\(indent)# \($0)\n" }.joined()
    }

    private static func type(_ shape: TypeShape) -> String {
        switch shape {
        case .unknown: "Any"
        case .null: "None"
        case .boolean: "bool"
        case .integer: "int"
        case .number: "float"
        case .string: "str"
        case .stream: stream
        case .literal(let value): "Literal[\(literal(value))]"
        case .array(let items): "list[\(type(items))]"
        case .map(let values): "dict[str, \(type(values))]"
        // In quotes, because the type may be declared below.
        case .named(let name): "\"\(name)\""
        case .union(let parts): union(parts)
        }
    }

    private static func union(_ parts: [TypeShape]) -> String {
        let literals = parts.compactMap { if case .literal(let value) = $0 { literal(value) } else { nil } }
        var types = literals.isEmpty ? [] : ["Literal[\(literals.joined(separator: ", "))]"]
        for part in parts {
            if case .literal = part { continue }
            types.append(type(part))
        }
        return types.count == 1 ? types[0] : "Union[\(types.joined(separator: ", "))]"
    }

    private static func literal(_ value: JSON) -> String {
        switch value {
        case .string(let text): GeneratedText.quoted(text)
        case .bool(let value): value ? "True" : "False"
        default: value.text
        }
    }
}
