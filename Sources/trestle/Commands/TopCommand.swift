import ArgumentParser
import BridgeClient
import BridgeJSON
import EventLoop

/// `trestle top`
struct TopCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows the daemon's activity, live: calls by task, traffic by session.",
        discussion: """
            Rates are per second, over the interval; p50 and p99 are over all calls since the daemon's start. The key \
            q ends the command. In a pipe, or with --json, it writes one line of JSON for each interval.

            EXAMPLES
              trestle top
              trestle top --interval 5s
              trestle top | jq -c '{callsPerSecond, loopLagUs}'
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    @Option(
        help: ArgumentHelp(
            "The interval: seconds, or a number with the unit ms, s, m or h; default: 1 s.", valueName: "duration"))
    var interval: TimeLimit?

    private var period: Duration { interval?.duration ?? .seconds(1) }

    func run() async throws {
        if screen.isForPeople, !screen.isTerminal {
            throw UsageFailure(
                "--text requires a terminal; in a pipe, use trestle status --text")
        }
        try await withClient { client in
            if screen.isForPeople {
                try await show(client)
            } else {
                try await write(client)
            }
        }
    }

    private static func read(_ client: Bridge) async throws -> TopReading {
        async let status = client.callPages("bridge.status", list: "tasks")
        async let sessions = client.callPages("bridge.sessions", list: "sessions")
        return try await TopReading(status: status, sessions: sessions)
    }

    private func write(_ client: Bridge) async throws {
        var before = try await Self.read(client)
        while true {
            try await Task.sleep(for: period)
            let after = try await Self.read(client)
            screen.write(line: TopRates(before, after).json)
            before = after
        }
    }

    @LoopActor
    private func show(_ client: Bridge) async throws {
        let first = try await Self.read(client)
        let terminal = try LiveTerminal(.output)
        defer { terminal.close() }
        var (before, rates) = (first, TopRates(first, first).json)
        var next = EventLoop.now + period
        while true {
            let (rows, columns) = terminal.size
            terminal.draw(TopFrame.lines(rates, rows: rows, columns: columns) { Screen.output.bold($0) })
            guard let wake = await terminal.wait(max(.zero, next - EventLoop.now)) else { throw CancellationError() }
            if wake == .leave { return }
            // The size has changed: draws the known values again.
            if EventLoop.now < next { continue }
            let after = try await Self.read(client)
            (before, rates) = (after, TopRates(before, after).json)
            next = EventLoop.now + period
        }
    }
}
