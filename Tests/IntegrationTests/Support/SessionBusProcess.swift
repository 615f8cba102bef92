import Glibc
import TestSupport

/// A session bus of its own for one test, with nothing on it.
final class SessionBusProcess {
    let process: SpawnedProcess
    let address: String
    private let folder: TemporaryFolder

    /// Whether this machine can have one.
    static var isPossible: Bool { exists(PrivateBus.program) }

    /// Starts it, and waits until it takes connections.
    init() throws {
        folder = try TemporaryFolder()
        let path = folder.file("bus")
        let configuration = try folder.write(PrivateBus.configuration(listeningAt: path), to: "bus.conf")
        let ends = try connectedPair()
        defer {
            close(ends.ours)
            close(ends.theirs)
        }
        process = try SpawnedProcess(
            PrivateBus.program, PrivateBus.arguments(configuration: configuration), output: .descriptor(ends.theirs))
        address = PrivateBus.address(path)
        guard try LineReader(ends.ours).line() != nil else { throw Failure("the bus says nothing") }
    }

    /// What tells a program where it is.
    var environment: [String] { ["DBUS_SESSION_BUS_ADDRESS=\(address)"] }
}
