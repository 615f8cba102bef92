import ArgumentParser
import BridgeJSON

/// What is wrong with a command line, in the words in which the programs report everything else.
public enum UsageError {
    /// What the parser of command lines puts before its messages.
    private static let prefix = "Error: "

    /// The report about an error for people, with the usage where that is wrong; it may have several lines.
    ///
    /// - Parameter command: the command that was running; nil: the command line was not understood.
    static func report(
        _ error: any Error, of program: any ParsableCommand.Type, during command: (any ParsableCommand.Type)?
    ) -> String {
        let message = program.message(for: error)
        if let command, error is ValidationError { return report(message, of: program, about: command) }
        var text = program.fullMessage(for: error)
        if text.hasPrefix(prefix + message) { text = String(text.dropFirst(prefix.count + message.count)) }
        let escaped = VisibleText.escaped(self.message(message), keepsLines: true)
        return "\(program._commandName): \(escaped)\(text.hasPrefix("\n") || text.isEmpty ? "" : "\n")\(text)"
    }

    /// The report about one of a program's commands that was not used as it has to be.
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

    /// The names by which a command is reached.
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

    /// A message of the parser as a part of a sentence: lower case, no full stop, the question behind a semicolon.
    static func message(_ text: String) -> String {
        var text = text.replacing(". Did you mean ", with: "; did you mean ")
            .replacing("\n   or: Missing ", with: ", or missing ")
        text = missing(text) ?? choices(text)
        if text.hasSuffix(".") { text.removeLast() }
        // A word in capitals, such as a name, stays.
        guard let first = text.first, first.isUppercase, text.dropFirst().first?.isLowercase == true else {
            return text
        }
        return first.lowercased() + text.dropFirst()
    }

    /// "Missing expected argument '<task>'" as "required argument '<task>' is missing".
    private static func missing(_ text: String) -> String? {
        let beginning = "Missing expected argument "
        guard text.hasPrefix(beginning) else { return nil }
        let name = text.dropFirst(beginning.count)
        return "required \(name.hasPrefix("'-") ? "option" : "argument") \(name) is missing"
    }

    /// The values that an option takes, behind a colon, be they listed in a sentence or below each other.
    private static func choices(_ text: String) -> String {
        guard let found = text.firstRange(of: ". Please provide one of ") else { return text }
        var values = text[found.upperBound...]
        if values.hasPrefix("the following:") { values = values.dropFirst("the following:".count) }
        let listed = values.replacing("\n  - ", with: ", ").replacing("' and '", with: "' or '")
        return "\(text[..<found.lowerBound]): expected one of \(listed.drop { $0 == "," || $0 == " " })"
    }
}
