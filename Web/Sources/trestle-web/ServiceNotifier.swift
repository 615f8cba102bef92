import MainLoop
import ServiceManager

/// Reports to the service manager that the program runs, and that the main loop turns: one that hangs is ended.
@MainActor
final class ServiceNotifier {
    private let environment: ServiceEnvironment
    private var timer: LoopSource?

    /// Takes what the manager said out of the environment, so that no child of this process speaks for it.
    init() { environment = ServiceEnvironment.take() }

    /// Pages are shown.
    func ready() {
        notify(.ready)
        guard let interval = environment.watchdogInterval else { return }
        timer = .timer(after: interval / 2, repeats: true) { [weak self] in self?.notify(.watchdog) }
    }

    /// The program ends.
    func stopping() {
        timer = nil
        notify(.stopping)
    }

    private func notify(_ state: ServiceState) {
        // A manager that does not listen ends the service by its own rules.
        try? environment.withManager { manager throws(ServiceManagerError) in try manager.notify(state) }
    }
}
