import BridgeJSON
import TOMLDocument

/// The result of a successful reload.
struct ReloadReport: Sendable, Equatable {
    /// The file that was read; `nil` if there is none and the defaults are used.
    var file: String?
    var difference: ConfigurationDifference
    /// Valid settings that are probably mistakes.
    var warnings: [ConfigurationProblem] = []

    /// The answer to the caller of `bridge.reload`.
    var json: JSON {
        var object = changes.objectValue ?? JSONObject()
        object["file"] = file.map(JSON.string) ?? .null
        object["warnings"] = .array(warnings.map(\.json))
        return .object(object)
    }

    /// The data of the event.
    var changes: JSON {
        [
            "applied": .array(difference.applied.map(JSON.string)),
            "restart": .array(difference.restart.map(JSON.string)),
        ]
    }

    /// The changes, as the end of a log line.
    var sentence: String {
        let applied = difference.applied.joined(separator: ", ")
        let restart = difference.restart.joined(separator: ", ")
        return switch (applied.isEmpty, restart.isEmpty) {
        case (true, true): "nothing has changed"
        case (false, true): "applied: \(applied)"
        case (true, false): "after a restart: \(restart)"
        case (false, false): "applied: \(applied); after a restart: \(restart)"
        }
    }
}

extension ConfigurationProblem {
    /// The problem as JSON: `line` and `column` are null for a flag and for the file as a whole.
    var json: JSON {
        [
            "file": .string(source), "line": position.map { .number(JSONNumber($0.line)) } ?? .null,
            "column": position.map { .number(JSONNumber($0.column)) } ?? .null,
            "key": key.map(JSON.string) ?? .null, "reason": .string(reason),
        ]
    }
}

extension ConfigurationErrors {
    /// The answer to the caller that requested the invalid configuration.
    var refusal: BridgeError {
        let more = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        return BridgeError(
            .configurationInvalid,
            "the configuration is invalid, and nothing was changed: "
                + "\(problems.first?.description ?? "")\(more)",
            data: ["problems": .array(problems.map(\.json))])
    }
}
