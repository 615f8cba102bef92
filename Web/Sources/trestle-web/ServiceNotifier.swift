import MainLoop
import ServiceManager

/// Reports to the service manager that the program is ready, and that the main loop runs: the manager ends a program
/// that hangs.
@MainActor
final class ServiceNotifier {
    private let environment: ServiceEnvironment
    private var timer: LoopSource?

    /// Removes the manager's variables from the environment, so that no child process reports in its place.
    init() { environment = ServiceEnvironment.take() }

    /// Reports that pages can be shown.
    func ready() {
        notify(.ready)
        guard let interval = environment.watchdogInterval else { return }
        timer = .timer(after: interval / 2, repeats: true) { [weak self] in self?.notify(.watchdog) }
    }

    /// Reports that the program ends.
    func stopping() {
        timer = nil
        notify(.stopping)
    }

    private func notify(_ state: ServiceState) {
        // A manager that does not listen applies its own rules to the service.
        try? environment.withManager { manager throws(ServiceManagerError) in try manager.notify(state) }
    }
}
