// trestle: the command line of the bridge, based on BridgeClient.
//
// The folders, from the lowest to the highest; each uses only those listed before it:
//
//   SessionBus/  the desktop's message bus
//   Output/      JSON, tables and reports, for people and for programs; errors and exit codes
//   Files/       files that are sent to the daemon or received from it
//   Connection/  the choice of the socket, signals, the time limit of a command
//   Describing/  the options and results of tasks, for people and for shells
//   Input/       options, passwords and lines that users type
//   Streams/     files as streams to and from the daemon
//   Fetching/    HTTP requests, their responses, and cookies
//   Running/     commands that answer calls
//   Watching/    live events, calls and figures
//   Recording/   recorded traffic, its replay and comparison
//   Conformance/ checks whether a daemon follows the protocol
//   Presenting/  alerts, in a terminal and on a desktop
//   Generating/  typed functions for tasks, in TypeScript and Python
//   Plugins/     creating, checking, developing and installing plugins
//   Commands/    one command per file

import ArgumentParser
import CommandLineSupport

/// The command line.
@main
struct Trestle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trestle",
        abstract: "Calls native tasks over the bridge, provides them, and manages the daemon.",
        discussion: """
            On a terminal, results are indented and lists are tables; piped, each result, event or list entry is one \
            line of JSON. --text and --json select one of them. NO_COLOR turns colours off.

            EXAMPLES
              trestle tasks
              trestle call Alert content='Back in five minutes' kind=confirm
              trestle --socket /tmp/bridge.sock status

            EXIT STATUS
              0  done                           1    the call, or the output, failed
              64  wrong usage                   69   no daemon answers, or no session bus
              75  failed, may succeed later     77   permission denied
              78  the configuration is invalid  124  the deadline passed, the call's or --timeout
              130  interrupted (SIGINT)         143  terminated (SIGTERM)
              129  the terminal was closed (SIGHUP)
              141  the reader of the output has ended (SIGPIPE)
            """,
        version: TrestleVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Calling",
                subcommands: [
                    CallCommand.self, NotifyCommand.self, FetchCommand.self, PublishCommand.self, SubscribeCommand.self,
                ]),
            CommandGroup(
                name: "Providing", subcommands: [PresentCommand.self, RegisterCommand.self]),
            CommandGroup(
                name: "Inspecting",
                subcommands: [
                    TasksCommand.self, DescribeCommand.self, StatusCommand.self, TopCommand.self,
                    MonitorCommand.self, MetricsCommand.self, SessionsCommand.self, CallsCommand.self,
                    PluginsCommand.self, ConformanceCommand.self,
                ]),
            CommandGroup(
                name: "Developing",
                subcommands: [
                    PluginCommand.self, PackageCommand.self, GenerateCommand.self, RecordCommand.self,
                    ReplayCommand.self,
                ]),
            CommandGroup(
                name: "Managing",
                subcommands: [
                    CancelCommand.self, ConfigCommand.self, ReloadAlias.self, ExplainCommand.self, UserCommand.self,
                    StoreCommand.self, CookiesCommand.self,
                ]),
        ])

    @OptionGroup var common: CommonOptions

    static func main() async {
        Screen.occupyClosedDescriptors()
        let arguments = CommandLine.arguments.dropFirst()
        if let unknown = UnknownSubcommand(in: arguments, of: Self.self) {
            exit(usage: unknown.message, of: unknown.parent)
        }
        var running: (any ParsableCommand.Type)?
        do {
            var command = try await asyncParseAsRoot()
            running = type(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            if Screen.hasFailed { exit(withError: Failure.call) }
        } catch let failure as UsageFailure {
            Self.exit(withError: Failure.report(failure))
        } catch {
            let typed = UnknownSubcommand.command(in: arguments, of: Self.self)
            exit(reporting: error, during: running, typed: typed)
        }
    }
}
