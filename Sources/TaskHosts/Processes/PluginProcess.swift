import BridgeJSON
import CTaskPlugin
import EventLoop
import Glibc
import PluginInterface

/// One process of a plugin: started, listened to, ended with all that it has started. Loop thread only.
@LoopActor
final class PluginProcess {
    /// What the process and the daemon say to each other.
    let link: PluginProcessLink
    /// Its id.
    var pid: Int32 { child.pid }
    /// Whether it is to end, so that its end is no fault.
    var isEndExpected = false

    private let child: ChildProcess
    private let channel: MessageChannel
    private let outputs: [PluginProcessOutput]
    /// Why it was killed.
    private var reason: String?
    private var timer: LoopTimer?
    private var hasExited = false
    private let ended: (PluginProcess, PluginProcessFault) -> Void

    /// As much as is read of what it had said when it ended.
    private static let maximumRestBytes = 16 << 20
    /// How long a process may take to end that has closed its socket, or was asked to.
    private static let timeout = Duration.seconds(1)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - lineBytes: the longest line that it may send.
    ///   - scheduler: what shares the loop between this process and all others; nil: it is read whenever it sends.
    ///   - ended: called once at its end, whether it was expected or not.
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
                stream.map { PluginProcessOutput($0) { [weak host] in host?.say(UInt32(level), $0(), of: nil) } }
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
            // The caller does not get this process: it must not stay.
            child.kill(SIGKILL)
            for output in outputs { output.finish() }
            throw error
        }
        // Until the channel is closed, which it is when the process has ended.
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

    /// The process, and our end of the socket.
    private static func spawn(_ command: PluginProcessCommand) throws(SystemError) -> (ChildProcess, Int32) {
        var program = command.arguments.first ?? ""
        if program.contains("/"), !program.hasPrefix("/") {
            // Tracebacks show this path.
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
        // The daemon's own sockets never block; a script that reads its socket waits there.
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

    /// What every process has of the daemon's environment. The last two choose what a crash writes, of Swift and C, and
    /// of Python.
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

    /// Before it has said anything: what it would have taken until then stays within what every process may.
    private static func limit(_ child: ChildProcess, _ limits: PluginProcessCommand.Limits) throws(SystemError) {
        if let bytes = limits.memoryBytes { try child.limit(.addressSpaceBytes, to: bytes) }
        if let count = limits.descriptors { try child.limit(.descriptors, to: count) }
        if let count = limits.processes { try child.limit(.processes, to: count) }
        // A process's memory may hold what callers sent: it is written nowhere.
        try child.limit(.coreBytes, to: 0)
    }

    // MARK: Ending

    /// It has done what it must not: it is killed, and its end is a fault for that reason.
    func fail(_ reason: String) {
        if self.reason == nil { self.reason = reason }
        child.kill(SIGKILL)
    }

    /// It is asked to end: its socket is closed, then SIGTERM comes, then SIGKILL.
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
            // Most likely it is about to end by itself, and how it does says more.
            later { if !self.child.hasEnded { self.fail("closed its socket and went on") } }
        case .garbage(let what): fail("sent what is no message: \(what)")
        case .failed(let what): fail("cannot be spoken to: \(what)")
        }
    }

    private func exited(_ status: ExitStatus) {
        hasExited = true
        // What it had said before counts.
        channel.readRest(limitBytes: Self.maximumRestBytes)
        channel.close()
        timer?.close()
        timer = nil
        for output in outputs { output.finish() }
        ended(self, PluginProcessFault(status: status, reason: reason))
    }
}
