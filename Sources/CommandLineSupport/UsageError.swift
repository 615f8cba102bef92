import ArgumentParser
import BridgeJSON

/// Messages about an invalid command line, in the style of the programs' other error messages.
public enum UsageError {
    /// The prefix of the argument parser's messages.
    private static let prefix = "Error: "

    /// Returns the message about an error, with the usage if the error is a usage error. It may have several lines.
    ///
    /// - Parameters:
    ///   - command: The command that was running; `nil` if the command line was not understood.
    ///   - typed: The command that the command line names; `nil` if this is unknown.
    static func report(
        _ error: any Error, of program: any ParsableCommand.Type, during command: (any ParsableCommand.Type)?,
        typed: (any ParsableCommand.Type)? = nil
    ) -> String {
        let message = program.message(for: error)
        if let command, error is ValidationError { return report(message, of: program, about: command) }
        var text = program.fullMessage(for: error)
        // For the options that all commands have, the parser shows the program's usage.
        if let typed, text.contains("\n  See '\(program._commandName) --help'") {
            return report(message, of: program, about: typed)
        }
        if text.hasPrefix(prefix + message) { text = String(text.dropFirst(prefix.count + message.count)) }
        let escaped = VisibleText.escaped(self.message(message), keepsLines: true)
        return "\(program._commandName): \(escaped)\(text.hasPrefix("\n") || text.isEmpty ? "" : "\n")\(text)"
    }

    /// Returns the message about a command of the program that was used incorrectly.
    static func report(
        _ message: String, of program: any ParsableCommand.Type, about command: any ParsableCommand.Type
    ) -> String {
        let names = path(from: program, to: command) ?? [program._commandName]
        let usage = program.usageString(for: command).split(separator: "\n").joined(separator: "\n       ")
        return """
            \(program._commandName): \(VisibleText.escaped(self.message(message), keepsLines: true))
            Usage: \(usage)
              See '\(names.joined(separator: " ")) --help' for more information.
            """
    }

    /// Returns the names of the commands from `command` to `target`; `nil` if `target` is not below `command`.
    private static func path(
        from command: any ParsableCommand.Type, to target: any ParsableCommand.Type
    ) -> [String]? {
        if command == target { return [command._commandName] }
        for child in command.configuration.subcommands {
            if let rest = path(from: child, to: target) { return [command._commandName] + rest }
        }
        return nil
    }

    // MARK: The parser's messages

    /// Converts a message of the parser to a part of a sentence: lower case, no full stop, the question after a
    /// semicolon.
    static func message(_ text: String) -> String {
        var text = text.replacing(". Did you mean ", with: "; did you mean ")
            .replacing("\n   or: Missing ", with: ", or missing ")
        text = missing(text) ?? choices(text)
        if text.hasSuffix(".") { text.removeLast() }
        // Keeps a word in capitals, such as a placeholder name.
        guard let first = text.first, first.isUppercase, text.dropFirst().first?.isLowercase == true else {
            return text
        }
        return first.lowercased() + text.dropFirst()
    }

    /// Converts "Missing expected argument '<task>'" to "required argument '<task>' is missing".
    private static func missing(_ text: String) -> String? {
        let beginning = "Missing expected argument "
        guard text.hasPrefix(beginning) else { return nil }
        let name = text.dropFirst(beginning.count)
        return "required \(name.hasPrefix("'-") ? "option" : "argument") \(name) is missing"
    }

    /// Moves the allowed values of an option behind a colon. The parser lists them in a sentence or one below the
    /// other.
    private static func choices(_ text: String) -> String {
        guard let found = text.firstRange(of: ". Please provide one of ") else { return text }
        var values = text[found.upperBound...]
        if values.hasPrefix("the following:") { values = values.dropFirst("the following:".count) }
        let listed = values.replacing("\n  - ", with: ", ").replacing("' and '", with: "' or '")
        return "\(text[..<found.lowerBound]): expected one of \(listed.drop { $0 == "," || $0 == " " })"
    }
}
