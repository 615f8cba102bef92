import ArgumentParser

/// Runs the command that the first argument names, else the one that shows pages: an address stands where the name of
/// a command would.
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
