import ArgumentParser

/// `trestle calls`
struct CallsCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Lists the calls in flight.",
        discussion: """
            EXAMPLES
              trestle calls
              trestle calls | jq -r 'select(.ageMs > 60000) | .call' | xargs -n1 trestle cancel
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws {
        try await showList("bridge.calls", "calls", first: ["call", "task", "state", "ageMs"])
    }
}
