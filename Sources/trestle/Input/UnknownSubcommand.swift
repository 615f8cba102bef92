import ArgumentParser
import BridgeJSON

/// An unknown subcommand on the command line. The parser would call it an unexpected argument.
struct UnknownSubcommand {
    /// The command under which it was expected.
    let parent: any ParsableCommand.Type
    /// The error message, with the probably intended name.
    let message: String

    /// The parser adds this subcommand to each command with subcommands.
    private static let help = "help"
    /// Options before a subcommand that take the next word as their value.
    private static let valueOptions: Set = ["--socket", "--timeout"]
    private static let flags: Set = ["--json", "--text", "--quiet"]

    /// Searches the words for the first unknown subcommand.
    ///
    /// - Returns: `nil` if there is none, or if the parser must report the error.
    init?(in arguments: some Sequence<String>, of root: any ParsableCommand.Type) {
        let (parent, unknown) = Self.follow(arguments, from: root)
        guard let unknown else { return nil }
        let shown = parent.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
        self.parent = parent
        message = "unknown subcommand '\(unknown)'\(Suggestion.question(for: unknown, among: shown))"
    }

    /// Returns the command that the words name, as far as they are known.
    static func command(
        in arguments: some Sequence<String>, of root: any ParsableCommand.Type
    ) -> any ParsableCommand.Type { follow(arguments, from: root).command }

    private static func follow(
        _ arguments: some Sequence<String>, from root: any ParsableCommand.Type
    ) -> (command: any ParsableCommand.Type, unknown: String?) {
        var command = root
        var words = arguments.makeIterator()
        while let word = words.next() {
            let children = command.configuration.subcommands
            if children.isEmpty { break }
            if valueOptions.contains(word) {
                _ = words.next()
                continue
            }
            if flags.contains(word) || valueOptions.contains(where: { word.hasPrefix("\($0)=") }) { continue }
            // The words after help name subcommands too.
            if word == help { continue }
            if word.hasPrefix("-") { break }
            guard let child = children.first(where: { names(of: $0).contains(word) }) else { return (command, word) }
            command = child
        }
        return (command, nil)
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
