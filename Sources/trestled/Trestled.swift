// trestled: the daemon. Configuration and assembly; all work at launch is done by workers of the launch registry.
import ArgumentParser
import BridgeJSON
import EventLoop
import Glibc
import Logging
import ServiceManager
import TaskRuntime
import CommandLineSupport

/// The command line.
@main
struct Trestled: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trestled",
        abstract: "Serves native tasks to web pages, scripts and programs over a Unix socket.",
        discussion: """
            EXAMPLES
              trestled
                  With the defaults: /etc/trestle/trestled.toml and
                  /run/trestle/bridge.sock for root; for other users the XDG
                  directories, and /tmp/trestle-UID if XDG_RUNTIME_DIR is not
                  set.
              trestled --socket /tmp/bridge.sock --state-dir /tmp/state
                  In the foreground, with its own socket and state.
                  In another terminal: trestle --socket /tmp/bridge.sock status
              trestled --config my.toml --check-config
                  Checks a configuration and the sections of its plugins.
              trestled --print-config sample > my.toml
                  Every setting with its default and a comment.
              trestled --print-config effective
                  Every setting with its value and where the value comes from.

            Under systemd (Type=notify) it takes over the sockets of its socket unit, and reports readiness, state and \
            liveness.

            SIGTERM and SIGINT end it when calls in flight have their callbacks; a second signal ends it immediately. \
            SIGHUP, like `trestle config reload`, makes it read its configuration again. What can change without a \
            restart takes effect; the log names the rest. If anything is wrong, nothing changes.

            EXIT STATUS
              0   stopped normally         1   could not start
              64  wrong usage              78  invalid configuration
              130, 143  ended by a second SIGINT or SIGTERM
            """,
        version: TrestleVersion.current)

    @Option(help: ArgumentHelp("The socket's path, at most 107 bytes.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The directory for the state of plugins.", valueName: "path"))
    var stateDir: String?

    @Option(
        help: ArgumentHelp(
            "A directory of plugins (*.so), instead of those that came with the daemon. May be repeated.",
            valueName: "path"))
    var pluginDir: [String] = []

    @Option(help: ArgumentHelp("The configuration file; flags take precedence.", valueName: "file"))
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The lowest severity that is logged: error, warning, notice, info or debug.", valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "The format of the log: text, json, journal, or auto: journal if standard error is the journal, else text.",
            valueName: "format"))
    var logFormat: String?

    @Flag(help: "Check the configuration and exit.")
    var checkConfig = false

    @Option(
        help: ArgumentHelp(
            "Print every setting, of the daemon and of the plugins that are installed, and exit.",
            discussion: """
                The form is a sample file, the tables of docs/configuration.md, a JSON Schema, or the effective values \
                with the source of each.
                """,
            valueName: PrintedConfiguration.allValueStrings.joined(separator: "|")))
    var printConfig: PrintedConfiguration?

    @Flag(help: "End when the program that started it has ended: for tools and tests.")
    var endWithParent = false

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            exit(reporting: error)
        }
    }

    func run() throws {
        if endWithParent { ParentProcess.endWithIt() }
        FileModes.restrict()
        // Before anything else: while there is no thread, no child and no other descriptor.
        let service = ServiceEnvironment.take()
        let source = source
        let reading = printConfig?.readsFile ?? true ? source.read() : source.withoutFile()
        let configuration = reading.configuration
        // A check or a printout also starts plugin processes, which is not worth logging then.
        let isAnswer = checkConfig || printConfig != nil
        let level = configuration.logLevel.level
        let threshold = LogThreshold(isAnswer ? max(level, .warning) : level)
        let handler = DaemonLog(configuration, source.environment, threshold: threshold)
        LoggingSystem.bootstrap { _ in handler }
        if configuration.protectsMemory { protectMemory() }
        // A disconnected peer is detected by the failing write, not by a signal.
        signal(SIGPIPE, SIG_IGN)
        let isCheck = checkConfig
        let printed = printConfig
        let arguments = CommandLine.arguments
        let log = Logger(label: "trestled")
        let daemonService = DaemonService(service, log: log)
        Task { @LoopActor in
            // A plugin process inherits no descriptors, whatever plugins in this process have opened.
            ChildProcess.closesOthersDescriptors = true
            Self.endDescendantsOfPlugins(log)
            let daemon = Daemon(
                reading, from: source, arguments: arguments, service: daemonService, log: log, threshold: threshold)
            let status =
                if let printed { await Self.print(printed, daemon) } else if isCheck { await Self.check(daemon) } else {
                    await daemon.run()
                }
            // Ends at once, after the output of plugins in this process was flushed: exit() would wait for work that
            // still blocks a thread.
            fflush(nil)
            _exit(status)
        }
        MainQueue.serve()
    }

    @LoopActor
    private static func endDescendantsOfPlugins(_ log: Logger) {
        do throws(SystemError) { try ChildProcess.adoptOrphans(controlGroups: "plugin-") } catch {
            log.warning("descendants of plugins' processes are not ended with them: \(error)")
        }
        if let folder = ChildProcess.controlGroups {
            log.info("each plugin process gets a control group of its own in \(folder)")
        }
    }

    private func protectMemory() {
        ProcessMemory.keepOutOfCrashReports()
        if !ProcessMemory.keepPrivate() {
            Logger(label: "trestled").warning(
                "the system does not allow the daemon to exclude its memory from core files")
        }
    }

    private var source: ConfigurationSource {
        var overrides = ConfigurationOverrides()
        overrides.set("socket", socket)
        overrides.set("state_dir", stateDir)
        overrides.set("plugin_dir", pluginDir)
        overrides.set("log_level", logLevel)
        overrides.set("log_format", logFormat)
        return ConfigurationSource(
            file: config, overrides: overrides, environment: .current(), executable: Self.executablePath)
    }

    @LoopActor
    private static func check(_ daemon: Daemon) async -> Int32 {
        do throws(ConfigurationErrors) {
            let count = try await daemon.checkConfiguration()
            for warning in daemon.configuration.warnings() + daemon.taskWarnings() {
                complain("warning: \(warning)", .warning)
            }
            let source = daemon.configuration.file ?? "the defaults (there is no configuration file)"
            return show("valid: \(VisibleText.escaped(source)), with \(count) plugins\n")
        } catch {
            complain("\(error)")
            return ExitStatus.badConfiguration
        }
    }

    @LoopActor
    private static func print(_ printed: PrintedConfiguration, _ daemon: Daemon) async -> Int32 {
        do throws(ConfigurationErrors) {
            _ = try daemon.reading.checked()
            return show(printed.text(of: try await daemon.describeConfiguration(), daemon.configuration))
        } catch {
            complain("\(error)")
            return ExitStatus.badConfiguration
        }
    }

    /// Writes the answer to standard output. Returns the exit status. A reader that has ended, such as head(1), is not
    /// an error.
    private static func show(_ text: String) -> Int32 {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                sent += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EPIPE: return 0
            case EAGAIN:
                // Another program has made the pipe non-blocking.
                var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            case let code:
                let reason = SystemError(code: code, operation: "write").reason
                complain("trestled: standard output cannot be written: \(reason)")
                return ExitStatus.cannotAnswer
            }
        }
        return 0
    }

    /// Writes lines to standard error. If standard error is the journal, each line gets a severity prefix, which the
    /// journal removes.
    private static func complain(_ text: String, _ level: Logger.Level = .error) {
        let priority = LogFormat.auto.resolved(.current()) == .journal ? "<\(level.priority)>" : ""
        let lines = text.split(separator: "\n").map {
            "\(priority)\(VisibleText.escaped(String($0), keepsLines: true))\n"
        }
        let bytes = Array(lines.joined().utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// The file of this program; plugins are searched beside it.
    private static var executablePath: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress, case let count = readlink("/proc/self/exe", start, buffer.count),
                count > 0
            else { return CommandLine.arguments[0] }
            return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
