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
    private static let valueOptions: Set = ["--socket"]

    /// Searches the words for the first unknown subcommand.
    ///
    /// - Returns: `nil` if there is none, or if the parser must report the error.
    init?(in arguments: some Sequence<String>, of root: any ParsableCommand.Type) {
        var parent = root
        var words = arguments.makeIterator()
        while let word = words.next() {
            if Self.valueOptions.contains(word) {
                _ = words.next()
                continue
            }
            if Self.valueOptions.contains(where: { word.hasPrefix("\($0)=") }) { continue }
            let children = parent.configuration.subcommands
            guard !children.isEmpty, !word.hasPrefix("-"), word != Self.help else { return nil }
            if let child = children.first(where: { Self.names(of: $0).contains(word) }) {
                parent = child
                continue
            }
            let shown = children.filter { $0.configuration.shouldDisplay }.map { $0._commandName }
            self.parent = parent
            message = "unknown subcommand '\(word)'\(Suggestion.question(for: word, among: shown))"
            return
        }
        return nil
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}
