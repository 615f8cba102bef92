import ArgumentParser
import BridgeClient

/// `trestle register`
struct RegisterCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Provides a task that a command answers, until it is interrupted.",
        discussion: """
            Each call runs the command once: the options as JSON on its standard input, the result as JSON from its \
            standard output (nothing: null). An exit status other than 0 fails the call with the last line of standard \
            error. A cancelled call ends the command by SIGTERM. TRESTLE_TASK, TRESTLE_SESSION, TRESTLE_UID, \
            TRESTLE_ORIGIN and TRESTLE_USER name the caller.

            When the connection is lost, as by a restart of the daemon, the commands that run are ended as if \
            cancelled; it connects again and provides the task again. Standard error reports both.

            EXAMPLES
              trestle register shout -- jq '.text |= ascii_upcase'
              trestle register disk.free -- sh -c "df --output=avail / | tail -1"
              trestle register deploy --own-session -- ./deploy.sh
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var reconnecting: ReconnectOptions
    @ParentCommand var root: Trestle

    @Argument(help: "The task's name.")
    var name: String

    @Flag(help: "Accept only calls for this session.")
    var ownSession = false

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, behind --."))
    var command: [String]

    func run() async throws {
        try await withClient(reconnect: reconnecting.reconnection) { client in
            let task = await CommandTask(command)
            let result = await Result.catching {
                try await client.register(name, scope: ownSession ? .session : .any) {
                    try await task.answer($0, $1)
                }
                try await client.ended()
            }
            // Ends the running commands and waits for them, so that none is left.
            await Task {
                await client.close()
                await task.finished()
            }.value
            try result.get()
        }
    }
}
