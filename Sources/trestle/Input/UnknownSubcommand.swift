import ArgumentParser
import BridgeJSON

/// A subcommand that was typed and that there is not. The parser would call it an unexpected argument.
struct UnknownSubcommand {
    /// Under which command it was looked for.
    let parent: any ParsableCommand.Type
    /// What is wrong, and what was probably meant.
    let message: String

    /// The parser has it under each command that has subcommands.
    private static let help = "help"
    /// Options before a subcommand whose value is the next word.
    private static let valueOptions: Set = ["--socket"]

    /// Looks along the words for the first that should be a subcommand and is none.
    ///
    /// - Returns: nil where there is none, or where the parser has to say what is wrong.
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
