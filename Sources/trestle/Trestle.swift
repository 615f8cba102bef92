// trestle: the command line of the bridge, over BridgeClient.
//
// The folders, from the lowest; each uses those above it in this list only:
//
//   SessionBus/  the desktop's message bus
//   Output/      JSON, tables and reports, for people and for programs; errors and exit codes
//   Files/       files that are sent to the daemon, and that come from it
//   Connection/  which socket, signals, the time that a command has
//   Describing/  what tasks take and return, for people and for shells
//   Input/       options, passwords and lines that people type
//   Streams/     files as streams, on their way to the daemon and from it
//   Fetching/    HTTP requests, the responses to them, and cookies
//   Running/     commands that answer calls
//   Watching/    events, calls and figures, live
//   Recording/   traffic that is kept, sent again and compared
//   Conformance/ whether a daemon speaks the protocol
//   Presenting/  alerts, in a terminal and on a desktop
//   Generating/  typed functions for tasks, in TypeScript and Python
//   Plugins/     plugins that are made, checked, and run while they are written
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
              0  done                           1    the call failed
              64  wrong usage                   69   no daemon answers, or no session bus
              75  failed, may succeed later     77   permission denied
              78  the configuration is invalid  124  the deadline passed, the call's or --timeout
              130  interrupted (SIGINT)         143  terminated (SIGTERM)
              129  plugin dev, check: its terminal was closed (SIGHUP)
              141  plugin dev, check: the reader of its output is gone (SIGPIPE)
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
        if let unknown = UnknownSubcommand(in: CommandLine.arguments.dropFirst(), of: Self.self) {
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
        } catch let failure as UsageFailure {
            Self.exit(withError: Failure.report(failure))
        } catch {
            exit(reporting: error, during: running)
        }
    }
}
