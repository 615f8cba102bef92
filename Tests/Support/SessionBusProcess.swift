import Glibc

/// A session bus of its own for one test, with nothing on it.
public final class SessionBusProcess {
    /// The bus.
    public let process: SpawnedProcess
    /// What `$DBUS_SESSION_BUS_ADDRESS` says.
    public let address: String
    private let folder: TemporaryFolder

    /// Whether this machine can have one.
    public static var isPossible: Bool { exists(PrivateBus.program) }

    /// Starts it, and waits until it takes connections.
    public init() throws {
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
        guard try SocketLineReader(ends.ours).line() != nil else { throw TestFailure("the bus says nothing") }
    }

    /// The environment that names its address.
    public var environment: [String] { ["DBUS_SESSION_BUS_ADDRESS=\(address)"] }
}
