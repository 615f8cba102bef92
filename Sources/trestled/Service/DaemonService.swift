// Service/: the daemon as a service. Under systemd it takes over sockets and reports readiness, status and liveness.
// Without a service manager, none of this happens or costs anything.
import EventLoop
import Logging
import ServiceManager

/// The daemon's connection to the service manager: passed descriptors, and notifications of the manager.
@LoopActor
final class DaemonService {
    /// Returns the figures of the status line; set before ``ready()``.
    var sample: @LoopActor () -> ServiceSample = { ServiceSample() }

    private var environment: ServiceEnvironment
    private let log: Logger
    private var watchdog: WatchdogFeed?
    private var status: StatusReporter?
    private var isStopping = false
    /// Whether the last message could not be sent, which is logged only once.
    private var isUnreachable = false

    nonisolated init(_ environment: consuming ServiceEnvironment, log: Logger) {
        self.environment = environment
        self.log = log
    }

    /// Whether there is a manager that receives messages.
    var isManaged: Bool { environment.manager != nil }

    /// Logs invalid variables of the manager.
    func reportProblems() {
        for problem in environment.problems { log.warning("\(problem)") }
    }

    // MARK: States of the daemon

    /// Reports that the daemon serves: after its launch, and again after each reload. The first call starts the
    /// watchdog messages and the status updates.
    func ready() {
        guard isManaged, !isStopping else { return }
        let reporter = status ?? StatusReporter(sample: sample) { [weak self] in self?.notify(.status($0)) }
        status = reporter
        notify(.ready, .status(reporter.begin()))
        if watchdog == nil, let interval = environment.watchdogInterval {
            watchdog = WatchdogFeed(interval: interval) { [weak self] in self?.notify(.watchdog) }
        }
    }

    /// Reports that the daemon reloads its configuration; ``ready()`` follows, whether that succeeds or not.
    func reloading() {
        guard !isStopping else { return }
        status?.pause()
        notify(.reloading, .status("reloading the configuration"))
    }

    /// Reports that the daemon cannot start.
    func failed(_ reason: String) { notify(.status("cannot start: \(reason)")) }

    /// Reports that the daemon stops, and the maximum time of the current step. Must be called again for each further
    /// step.
    func stopping(_ what: String, within duration: Duration) {
        isStopping = true
        status?.close()
        status = nil
        notify(.stopping, .status(what), .extendTimeout(duration + Self.timeout))
    }

    /// The extra time for a step on a busy machine.
    private static let timeout = Duration.seconds(5)

    private func notify(_ states: ServiceState...) {
        notify { manager throws(ServiceManagerError) in try manager.notify(states) }
    }

    private func notify(_ message: (borrowing ServiceManager) throws(ServiceManagerError) -> Void) {
        guard environment.manager != nil else { return }
        do throws(ServiceManagerError) {
            try environment.withManager(message)
            isUnreachable = false
        } catch {
            if !isUnreachable { log.warning("the service manager could not be notified: \(error)") }
            isUnreachable = true
        }
    }
}

// MARK: Inherited descriptors

extension DaemonService {
    /// The prefix of the names of descriptors that the daemon itself has stored. All other inherited descriptors are
    /// sockets.
    private static let storedPrefix = "stored."

    /// Returns the next socket at which the manager listens for the daemon; `nil` if none is left.
    func takeSocket() -> InheritedDescriptor? {
        environment.descriptors.take { !$0.hasPrefix(Self.storedPrefix) }
    }

    /// Whether the manager stores descriptors for the daemon's next process.
    var hasDescriptorStore: Bool { isManaged && environment.descriptorStoreLimit > 0 }

    /// The maximum time that the manager may take to store a descriptor.
    private static let storingTime = Duration.seconds(5)

    /// Stores a copy of a descriptor in the manager for the daemon's next process, even if its other end closes. Waits
    /// until the manager has it: once this process has ended, the manager may no longer attribute an unread message to
    /// the daemon. See ``takeStored(named:)``. Blocks the loop, so it must be called only at the end.
    func store(_ descriptor: Int32, named name: String) throws(ServiceManagerError) {
        try environment.withManager { manager throws(ServiceManagerError) in
            try manager.store(descriptor: descriptor, named: Self.storedPrefix + name, outlivesHangUp: true)
            try manager.awaitTaken(timeout: Self.storingTime)
        }
    }

    /// Removes the descriptor that was stored under this name from the manager.
    func forgetStored(_ name: String) {
        notify { manager throws(ServiceManagerError) in try manager.removeStored(named: Self.storedPrefix + name) }
    }

    /// Returns the descriptor that an earlier process of the daemon stored under this name; `nil` if there is none or
    /// if it was taken. The manager keeps its copy until ``forgetStored(_:)``.
    func takeStored(named name: String) -> InheritedDescriptor? {
        environment.descriptors.take { $0 == Self.storedPrefix + name }
    }

    /// Whether an earlier process of the daemon stored a descriptor.
    var hasStored: Bool { environment.descriptors.names.contains { $0.hasPrefix(Self.storedPrefix) } }
}
