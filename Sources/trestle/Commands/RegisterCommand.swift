import ArgumentParser
import BridgeClient

/// `trestle register`
struct RegisterCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Provides a task that a command answers, until it is interrupted.",
        discussion: """
            Each call runs the command once. The options are JSON on its standard input, and the result is JSON on its \
            standard output (no output: null). If the exit status is not 0, the call fails with the last line of \
            standard error. A cancelled call ends the command by SIGTERM. TRESTLE_TASK, TRESTLE_SESSION, TRESTLE_UID, \
            TRESTLE_ORIGIN and TRESTLE_USER identify the caller.

            When the connection is lost, for example at a restart of the daemon, running commands are ended as if they \
            were cancelled. The command connects again and provides the task again. Standard error reports the lost \
            and the new connection.

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

    @Argument(parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --."))
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
