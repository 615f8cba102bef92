import ArgumentParser

/// Runs the command that the first argument names. Without one it runs the command that shows pages: an address takes
/// the place of a command name.
@main
enum Program {
    static func main() {
        if CommandLine.arguments.dropFirst().first == CompileFilters.configuration.commandName {
            return CompileFilters.main(Array(CommandLine.arguments.dropFirst(2)))
        }
        let names = PackageCommand.configuration.subcommands.map { $0._commandName }
        if let first = CommandLine.arguments.dropFirst().first, names.contains(first) {
            PackageCommand.main()
        } else {
            TrestleWeb.main()
        }
    }
}
