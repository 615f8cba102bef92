import BridgeJSON
import Glibc
import TestSupport

/// A real notification service on a virtual screen, with methods that operate its buttons.
final class Dunst {
    /// Whether this machine has the programs for it.
    static var isPossible: Bool {
        SessionBusProcess.isPossible && VirtualScreen.isPossible
            && ["dunst", "dunstctl", "busctl"].allSatisfy { exists("/usr/bin/\($0)") }
    }

    let process: SpawnedProcess
    private let screen: VirtualScreen
    private let folder: TemporaryFolder
    private let environment: [String]

    /// Starts the service and waits until it is on the bus.
    init(_ bus: SessionBusProcess) throws {
        folder = try TemporaryFolder()
        screen = try VirtualScreen()
        environment = bus.environment + screen.environment + ["HOME=\(folder.path)"]
        // The menu program selects the line with the wanted text.
        let menu = try folder.write("#!/bin/sh\nexec grep -m 1 -f \(folder.file("choice"))\n", to: "menu")
        chmod(menu, 0o755)
        let configuration = try folder.write("[global]\n    dmenu = \(menu)\n    markup = full\n", to: "dunstrc")
        process = try SpawnedProcess("/usr/bin/dunst", ["-config", configuration], environment: environment)
        try awaitShown(0)
    }

    /// Waits until the specified number of notifications is on the screen.
    func awaitShown(_ count: Int) throws {
        let deadline = Deadline()
        while true {
            let run = try control("count", "displayed")
            if run.end == .exited(0), run.output == "\(count)\n" { return }
            // Between two queries, waits briefly for the end of the process, which may occur instead.
            if process.hasEnded(within: 20) { throw TestFailure("dunst ended: \(try process.wait())") }
            if deadline.isOver { throw TestFailure("dunst never shows \(count): \(run.output)\(run.errors)") }
        }
    }

    /// Selects the button with this label from the menu of the notifications on the screen.
    func press(_ label: String) throws {
        try folder.write("#\(label) \n", to: "choice")
        try must("context")
    }

    /// Presses the only button.
    func press() throws { try must("action", "0") }

    /// Dismisses the newest notification.
    func dismiss() throws { try must("close") }

    /// Returns the body of the notification that was closed last, as it was received.
    func lastBody() throws -> JSON? {
        let history = try JSON(parsing: try control("history").output)
        return history["data"]?.arrayValue?.first?.arrayValue?.first?["body"]?["data"]
    }

    private func must(_ arguments: String...) throws {
        let control = try run("/usr/bin/dunstctl", arguments, environment: environment)
        guard control.end == .exited(0) else { throw TestFailure("dunstctl \(arguments): \(control.errors)") }
    }

    private func control(_ arguments: String...) throws -> ProgramRun {
        try run("/usr/bin/dunstctl", arguments, environment: environment)
    }
}
