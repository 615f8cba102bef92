import ArgumentParser
import BridgeJSON
import EventLoop
import Glibc
import PrivateDaemon

/// `trestle plugin check`
struct CheckPluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a plugin against the rules for plugins, in a daemon of its own.",
        discussion: """
            The plugin must load, and must refuse options that its schemas forbid. Each call of a task must have \
            exactly one answer, which matches its schema, and the work must end when the call is cancelled or its \
            deadline passes. No second answer may follow within a second, and no call may remain. The plugin must stop \
            while it works on a call, and must start again with the state that it left. A library is checked in a \
            process of its own, and then in the daemon's process; with --config, only where that file specifies. \
            Checks that are impossible because a call closes the session of its caller are listed.

            A project's folder is built first, as `trestle plugin dev` builds it.

            Calls can have any effect. Therefore only the tasks that --call names are called, some of them five times \
            in each place. Other tasks are only called with options of the wrong type, or without options that the \
            schema requires. The check uses its own socket, state and configuration, and removes them afterwards; it \
            does not affect a daemon that runs on this machine. Other effects of the plugin are not undone.

            EXAMPLES
              trestle plugin check . --call scanner='{"who": "World"}'
              trestle plugin check libScannerPlugin.so
              trestle plugin check scanner.plugin.toml --call scanner='{"who": "World"}'
              trestle plugin check libScannerPlugin.so --call-all --json | jq 'select(.outcome == "failed")'
              trestle plugin check libScannerPlugin.so --call scanner=@options.json --config scanner.toml

            EXIT STATUS
              0  every check passed or was skipped   1  at least one failed
            """)

    @OptionGroup var plugin: PluginArgument

    @Option(
        help: ArgumentHelp(
            "A task that the check may call, with these options or with options made from its schema.",
            valueName: "task | task=json | task=@file"))
    var call: [String] = []

    @Flag(help: "The check may call every task.")
    var callAll = false

    @Option(
        help: ArgumentHelp(
            "A configuration file of the daemon, with a section of this plugin and of no other.",
            valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The time limit for an answer, and for cancelled work to end; default: 5 s.", valueName: "duration"))
    var timeout: TimeLimit?

    @OptionGroup var form: OutputForm

    func validate() throws {
        if timeout.map({ $0.duration < .milliseconds(10) }) == true {
            throw ValidationError("--timeout is too short: nothing answers within less than 10ms")
        }
    }

    func run() async throws {
        let choice = try CheckChoice(call, all: callAll)
        do {
            try await Interruption.cancelling(puttingAway: true) { [self] in
                if try await check(choice) > 0 { throw ExitCode(1) }
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Failure.report(error, asJSON: form.json)
        }
    }

    /// Checks the plugin.
    ///
    /// - Returns: The number of failed checks.
    @LoopActor
    private func check(_ choice: CheckChoice) async throws -> Int {
        let path = try await plugin.file("cannot be checked")
        let folder = try PrivateFolder(for: "check")
        defer { folder.remove() }
        try folder.offer(path)
        var settings = PrivateDaemon.Settings(daemon: try InstalledDaemon.path())
        settings.configurationPath = config
        let line = ProgressLine()
        // Shows activity while a check waits for the plugin.
        let ticker = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                line.show("checking …")
            }
        }
        defer { ticker.cancel() }
        let report = CheckReport(writesJSON: !Screen.output.showing(form).isForPeople)
        func run(_ isolation: CheckFinding.Isolation) async throws -> String? {
            var check = PluginCheck(
                isolation: isolation, settings: settings, folder: folder, choice: choice,
                timeout: timeout?.duration ?? .seconds(5),
                report: { finding in
                    line.end()
                    report.take(finding)
                })
            return try await check.run()
        }
        let name = try await run(.isolated)
        // In the daemon's process, a crash of the plugin would end the daemon.
        if let name, path.hasSuffix(".so"), config == nil, report.failed == 0 {
            try folder.configure("[plugins.\(name)]\nisolation = \"none\"\n")
            _ = try await run(.inProcess)
        }
        line.end()
        report.finish()
        return report.failed
    }
}
