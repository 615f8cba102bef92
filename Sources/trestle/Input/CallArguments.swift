import ArgumentParser
import BridgeJSON

/// A call's options on the command line: one JSON value, or members of an object as key=value.
enum CallArguments {
    /// Parses the options.
    ///
    /// - Parameter noun: The term for them in a message.
    /// - Throws: A message for the user.
    static func options(_ arguments: [String], noun: String = "options") throws(ValidationError) -> JSON {
        if arguments.count == 1, let json = try? JSON(parsing: arguments[0]) { return json }
        var object = JSON.object([:])
        for argument in arguments {
            guard let separator = argument.firstIndex(of: "="), separator > argument.startIndex else {
                throw ValidationError(
                    arguments.count == 1 && (argument.hasPrefix("{") || argument.hasPrefix("["))
                        ? "the \(noun) are not valid JSON: \(reason(argument))"
                        : "the \(noun) are one JSON value or key=value pairs, and '\(argument)' is neither")
            }
            let path = argument[..<separator].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let text = String(argument[argument.index(after: separator)...])
            object = try set(object, path[...], to: (try? JSON(parsing: text)) ?? .string(text), argument)
        }
        return object
    }

    private static func reason(_ text: String) -> String {
        do throws(JSONSyntaxError) {
            _ = try JSON(parsing: text)
            return ""
        } catch {
            return error.description
        }
    }

    /// Returns the object with the member at the path set.
    private static func set(
        _ object: JSON, _ path: ArraySlice<String>, to value: JSON, _ argument: String
    ) throws(ValidationError) -> JSON {
        guard let key = path.first else { return value }
        guard !key.isEmpty else {
            throw ValidationError("a key in '\(argument)' is empty: dots go between names, as in where.name=Ann")
        }
        guard case .object(var members) = object else {
            throw ValidationError(
                "'\(argument)' sets a member of a value that another argument has set to \(object.text)")
        }
        let rest = path.dropFirst()
        members[key] = try set(rest.isEmpty ? .null : members[key] ?? .object([:]), rest, to: value, argument)
        return .object(members)
    }
}
