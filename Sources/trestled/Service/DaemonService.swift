// Service/: the daemon as a service. Under systemd it takes over sockets, says when it is ready, how it is and that it
// is alive; without a service manager nothing of this happens, nor costs anything.
import EventLoop
import Logging
import ServiceManager

/// The daemon's side of the service manager: what was handed over, and what the manager is notified of, when.
@LoopActor
final class DaemonService {
    /// The figures of the status line; set before ``ready()``.
    var sample: @LoopActor () -> ServiceSample = { ServiceSample() }

    private var environment: ServiceEnvironment
    private let log: Logger
    private var watchdog: WatchdogFeed?
    private var status: StatusReporter?
    private var isStopping = false
    /// Whether the last message could not be sent: that is logged once, not with each of them.
    private var isUnreachable = false

    nonisolated init(_ environment: consuming ServiceEnvironment, log: Logger) {
        self.environment = environment
        self.log = log
    }

    /// Whether there is a manager that listens.
    var isManaged: Bool { environment.manager != nil }

    /// Logs what the manager said and could not be made sense of.
    func reportProblems() {
        for problem in environment.problems { log.warning("\(problem)") }
    }

    // MARK: How the daemon is

    /// The daemon serves: after its launch, and again after each reload. From the first time on the watchdog is fed and
    /// the status kept up to date.
    func ready() {
        guard isManaged, !isStopping else { return }
        let reporter = status ?? StatusReporter(sample: sample) { [weak self] in self?.notify(.status($0)) }
        status = reporter
        notify(.ready, .status(reporter.begin()))
        if watchdog == nil, let interval = environment.watchdogInterval {
            watchdog = WatchdogFeed(interval: interval) { [weak self] in self?.notify(.watchdog) }
        }
    }

    /// The daemon reloads its configuration; ``ready()`` follows, whether that succeeds or not.
    func reloading() {
        guard !isStopping else { return }
        status?.pause()
        notify(.reloading, .status("reloading the configuration"))
    }

    /// The daemon cannot start.
    func failed(_ reason: String) { notify(.status("cannot start: \(reason)")) }

    /// The daemon ends, and does now what may take so long. To be said again with each further step.
    func stopping(_ what: String, within duration: Duration) {
        isStopping = true
        status?.close()
        status = nil
        notify(.stopping, .status(what), .extendTimeout(duration + Self.timeout))
    }

    /// What a step may take longer than its bound says, on a busy machine.
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

// MARK: What was handed over

extension DaemonService {
    /// In front of the names of what the daemon itself had stored: everything else that is handed over are sockets.
    private static let storedPrefix = "stored."

    /// The next of the sockets that the manager listens at for the daemon; nil: there is none left.
    func takeSocket() -> InheritedDescriptor? {
        environment.descriptors.take { !$0.hasPrefix(Self.storedPrefix) }
    }

    /// Whether the manager keeps descriptors for the daemon's next process.
    var hasDescriptorStore: Bool { isManaged && environment.descriptorStoreLimit > 0 }

    /// How long the manager may take over what it is to keep.
    private static let storingTime = Duration.seconds(5)

    /// Has the manager keep a copy of a descriptor for the daemon's next process, whatever becomes of its other end,
    /// and waits until it has it: what it had not looked at when this process ends it may no longer take for ours. See
    /// ``takeStored(named:)``. Blocks the loop: for its very end.
    func store(_ descriptor: Int32, named name: String) throws(ServiceManagerError) {
        try environment.withManager { manager throws(ServiceManagerError) in
            try manager.store(descriptor: descriptor, named: Self.storedPrefix + name, outlivesHangUp: true)
            try manager.awaitTaken(timeout: Self.storingTime)
        }
    }

    /// Has the manager forget what was stored by this name.
    func forgetStored(_ name: String) {
        notify { manager throws(ServiceManagerError) in try manager.removeStored(named: Self.storedPrefix + name) }
    }

    /// Something that an earlier process of the daemon stored by this name; nil: nothing, or nothing more. The manager
    /// keeps its copy until ``forgetStored(_:)``.
    func takeStored(named name: String) -> InheritedDescriptor? {
        environment.descriptors.take { $0 == Self.storedPrefix + name }
    }

    /// Whether an earlier process of the daemon stored anything.
    var hasStored: Bool { environment.descriptors.names.contains { $0.hasPrefix(Self.storedPrefix) } }
}
