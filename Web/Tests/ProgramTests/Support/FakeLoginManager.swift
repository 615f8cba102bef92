import Glibc
import TestSupport

/// A separate system bus with a program that acts as the machine's login manager. It ends with this object.
final class FakeLoginManager {
    private static let program = "\(PackageFolder.programsOfTests)/fake-login-manager"

    private let bus: SessionBusProcess
    private var manager: Manager

    /// The program, and the connection to it. It ends with this object.
    private final class Manager {
        let process: SpawnedProcess
        let line: Int32
        let reader: SocketLineReader

        init(_ environment: [String]) throws {
            let ends = try connectedPair()
            line = ends.ours
            reader = SocketLineReader(line)
            process = try SpawnedProcess(
                FakeLoginManager.program, environment: environment, input: .descriptor(ends.theirs),
                output: .descriptor(ends.theirs))
            close(ends.theirs)
            try expect("ready")
        }

        deinit { close(line) }

        func expect(_ text: String) throws {
            let said = try reader.line().map { String(decoding: $0, as: UTF8.self) }
            guard said == text else { throw TestFailure("the login manager says \(said ?? "nothing"), not \(text)") }
        }
    }

    init() throws {
        bus = try SessionBusProcess()
        manager = try Manager(["DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"])
    }

    /// Ends the manager and starts another one on the same bus.
    func restart() throws {
        manager.process.signal(SIGKILL)
        _ = try manager.process.wait()
        manager = try Manager(environment)
    }

    /// Ends the bus.
    func endBus() throws {
        bus.process.signal(SIGKILL)
        _ = try bus.process.wait()
    }

    /// The environment variables with the address of the bus and the ID of the session.
    var environment: [String] { ["DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)", "XDG_SESSION_ID=2"] }

    /// Waits until a client has asked for a session and has taken a lock that delays sleep.
    func awaitQuestions() throws {
        try manager.expect("asked")
        try awaitDelay()
    }

    /// Waits until a client has taken a lock that delays sleep.
    func awaitDelay() throws { try manager.expect("delayed") }

    /// Waits until the lock is released, so that the machine may sleep.
    func awaitRelease() throws { try manager.expect("released") }

    /// Sends a signal: `suspend`, `resume`, `lock`, `unlock` or `lock-other`.
    func send(_ signal: String) throws {
        let bytes = Array("\(signal)\n".utf8)
        guard write(manager.line, bytes, bytes.count) == bytes.count else { throw TestFailure("\(signal) is not sent") }
    }

    /// Makes another program on the bus send `suspend` and `lock`.
    func sendAsImpostor() throws {
        let ended = try SpawnedProcess(Self.program, ["--impostor"], environment: environment).wait()
        guard ended == .exited(0) else { throw TestFailure("the impostor ended with \(ended)") }
    }
}
