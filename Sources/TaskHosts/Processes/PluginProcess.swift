import BridgeJSON
import CTaskPlugin
import EventLoop
import Glibc
import PluginInterface

/// One process of a plugin. Starts it, reads its messages, and ends it together with its descendants. Loop thread only.
@LoopActor
final class PluginProcess {
    /// The messages between the process and the daemon.
    let link: PluginProcessLink
    /// The id of the process.
    var pid: Int32 { child.pid }
    /// Whether its end was requested and therefore is no fault.
    var isEndExpected = false

    private let child: ChildProcess
    private let channel: MessageChannel
    private let outputs: [PluginProcessOutput]
    /// The reason why it was killed; `nil` if it was not.
    private var reason: String?
    private var timer: LoopTimer?
    private var hasExited = false
    private let ended: (PluginProcess, PluginProcessFault) -> Void

    /// The maximum number of bytes that are read of its output after its end.
    private static let maximumRestBytes = 16 << 20
    /// The time limit for the end of a process that has closed its socket or was requested to end.
    private static let timeout = Duration.seconds(1)

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - lineBytes: The maximum length of a line that it may send.
    ///   - scheduler: The scheduler that shares the loop between this process and all others; `nil` to read it whenever
    ///     it sends.
    ///   - ended: Called once at its end, expected or not.
    init(
        _ command: PluginProcessCommand, link: PluginProcessLink, lineBytes: Int, scheduler: FairScheduler? = nil,
        ended: @escaping (PluginProcess, PluginProcessFault) -> Void
    ) throws(SystemError) {
        self.link = link
        self.ended = ended
        let (child, ours) = try Self.spawn(command)
        self.child = child
        let host = link.host
        outputs = [(child.standardOutput, TRESTLE_LOG_INFO), (child.standardError, TRESTLE_LOG_WARNING)]
            .compactMap { stream, level in
                stream.map { PluginProcessOutput($0) { [weak host] in host?.writeLog(UInt32(level), $0(), of: nil) } }
            }
        let socket = UnixSocket(adopting: ours)
        do {
            try Self.limit(child, command.limits)
            channel = try MessageChannel(socket, lineBytes: lineBytes, output: link.output)
            if let scheduler {
                channel.share(scheduler, as: .process(child.pid))
                for output in outputs { output.share(scheduler, as: .process(child.pid)) }
            }
        } catch {
            // The caller does not get this process, so it must end.
            child.kill(SIGKILL)
            for output in outputs { output.finish() }
            throw error
        }
        // These closures are used until the channel is closed, at the end of the process.
        channel.receive = { [unowned channel] in link.receive($0, isDeep: channel.isDeep) }
        channel.ended = { [weak self] in self?.channelEnded($0) }
        channel.drained = { host.drained() }
        link.sentUnasked = { [weak channel] in LoopActor.assumeIsolated { channel?.noteUnasked() } }
        link.descriptorReceiver = channel
        link.fault = { [weak self] reason in
            guard let self else { return }
            LoopActor.assumeIsolated { self.fail(reason) }
        }
        Task { @LoopActor in self.exited(await child.exitStatus()) }
    }

    // MARK: Starting

    /// Spawns the process, and returns it with the daemon's end of the socket.
    private static func spawn(_ command: PluginProcessCommand) throws(SystemError) -> (ChildProcess, Int32) {
        var program = command.arguments.first ?? ""
        if program.contains("/"), !program.hasPrefix("/") {
            // Makes the path absolute, as tracebacks show it.
            program = command.directory + "/" + (program.hasPrefix("./") ? String(program.dropFirst(2)) : program)
        }
        var options = ChildProcess.Options(file: program, arguments: Array(command.arguments.dropFirst()))
        options.environment = environment(command)
        options.workingDirectory = command.directory
        options.standardInput = .null
        options.standardOutput = .pipe
        options.standardError = .pipe
        options.isSessionLeader = true
        options.endsDescendants = true
        let (ours, theirs) = try socketPair()
        defer { close(theirs) }
        // The daemon's sockets never block. The plugin's end must block, so that a script can wait in a read.
        _ = fcntl(theirs, F_SETFL, 0)
        options.extraDescriptors = [theirs]
        do {
            return (try ChildProcess.spawn(options), ours)
        } catch {
            close(ours)
            throw error
        }
    }

    private static func socketPair() throws(SystemError) -> (Int32, Int32) {
        do {
            return try UnixSocket.pair { ours, theirs in (ours.release(), theirs.release()) }
        } catch {
            throw error as? SystemError ?? SystemError(code: EMFILE, operation: "create a socket pair")
        }
    }

    /// The variables of the daemon's environment that every process inherits. The last two select the output of a
    /// crash: in Swift and C, and in Python.
    private static let inherited = ["PATH", "LANG", "TZ", "SWIFT_BACKTRACE", "PYTHONFAULTHANDLER"]

    private static func environment(_ command: PluginProcessCommand) -> [String: String] {
        var environment: [String: String] = [:]
        for name in inherited {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        environment.merge(command.environment) { $1 }
        environment[PluginProtocol.descriptorVariable] = "\(PluginProtocol.descriptor)"
        environment[PluginProtocol.pluginVariable] = command.name
        return environment
    }

    /// Sets the limits before the process has sent anything. Until then the limits of every process apply.
    private static func limit(_ child: ChildProcess, _ limits: PluginProcessCommand.Limits) throws(SystemError) {
        if let bytes = limits.memoryBytes { try child.limit(.addressSpaceBytes, to: bytes) }
        if let count = limits.descriptors { try child.limit(.descriptors, to: count) }
        if let count = limits.processes { try child.limit(.processes, to: count) }
        // The memory may contain data of callers, so no core file is written.
        try child.limit(.coreBytes, to: 0)
    }

    /// Writes waiting messages. Otherwise they are written at the end of the turn.
    func writeOutput() { channel.flush() }

    // MARK: Ending

    /// Kills a process that broke a rule. Its end is a fault with this reason.
    func fail(_ reason: String) {
        if self.reason == nil { self.reason = reason }
        child.kill(SIGKILL)
    }

    /// Ends the process: closes its socket, then sends SIGTERM, then SIGKILL.
    func finish() {
        isEndExpected = true
        channel.flush()
        channel.close()
        later { [child] in
            child.kill(SIGTERM)
            self.later { child.kill(SIGKILL) }
        }
    }

    private func later(_ body: @escaping @LoopActor () -> Void) {
        guard !hasExited else { return }
        timer?.close()
        timer = LoopTimer(body)
        timer?.schedule(after: Self.timeout)
    }

    private func channelEnded(_ end: MessageChannel.End) {
        switch end {
        case .closed:
            // It is probably about to end by itself, and its exit status is more informative.
            later { if !self.child.hasEnded { self.fail("closed its socket but did not end") } }
        case .garbage(let what): fail("sent an invalid message: \(what)")
        case .failed(let what): fail("cannot be reached: \(what)")
        }
    }

    private func exited(_ status: ExitStatus) {
        hasExited = true
        // Handles the messages that it sent before its end.
        channel.readRest(limitBytes: Self.maximumRestBytes)
        channel.close()
        timer?.close()
        timer = nil
        for output in outputs { output.finish() }
        ended(self, PluginProcessFault(status: status, reason: reason))
    }
}
