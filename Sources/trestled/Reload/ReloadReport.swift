import BridgeJSON
import TOMLDocument

/// What came of a reload that was good.
struct ReloadReport: Sendable, Equatable {
    /// The file that was read; nil: there is none, the defaults hold.
    var file: String?
    var difference: ConfigurationDifference
    /// What is allowed and will hardly be meant.
    var warnings: [ConfigurationProblem] = []

    /// The answer to the caller that asked.
    var json: JSON {
        var object = changes.objectValue ?? JSONObject()
        object["file"] = file.map(JSON.string) ?? .null
        object["warnings"] = .array(warnings.map(\.json))
        return .object(object)
    }

    /// What an event says of it.
    var changes: JSON {
        [
            "applied": .array(difference.applied.map(JSON.string)),
            "restart": .array(difference.restart.map(JSON.string)),
        ]
    }

    /// The line of the log, without its beginning.
    var sentence: String {
        let applied = difference.applied.joined(separator: ", ")
        let restart = difference.restart.joined(separator: ", ")
        return switch (applied.isEmpty, restart.isEmpty) {
        case (true, true): "nothing has changed"
        case (false, true): "in force: \(applied)"
        case (true, false): "a restart is needed for \(restart)"
        case (false, false): "in force: \(applied); a restart is needed for \(restart)"
        }
    }
}

extension ConfigurationProblem {
    /// The problem for programs: `line` and `column` are null for a flag, and for the file as a whole.
    var json: JSON {
        [
            "file": .string(source), "line": position.map { .number(JSONNumber($0.line)) } ?? .null,
            "column": position.map { .number(JSONNumber($0.column)) } ?? .null,
            "key": key.map(JSON.string) ?? .null, "reason": .string(reason),
        ]
    }
}

extension ConfigurationErrors {
    /// The answer to the caller that wanted these to be in force.
    var refusal: BridgeError {
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        return BridgeError(
            .configurationInvalid,
            "the configuration is invalid, and nothing was changed: "
                + "\(problems.first?.description ?? "")\(more)",
            data: ["problems": .array(problems.map(\.json))])
    }
}
