import ArgumentParser

/// `trestle sessions`
struct SessionsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Lists the sessions that are connected to the daemon.",
        discussion: """
            EXAMPLES
              trestle sessions
              trestle sessions | jq 'select(.inFlight > 0)'
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await showList("bridge.sessions", "sessions", first: ["session", "uid", "pid", "client"])
    }
}
