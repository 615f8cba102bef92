import Glibc

/// A private session bus for one test, without services.
public final class SessionBusProcess {
    /// The process of the bus.
    public let process: SpawnedProcess
    /// The value of `$DBUS_SESSION_BUS_ADDRESS`.
    public let address: String
    private let folder: TemporaryFolder

    /// Whether this machine has the required program.
    public static var isPossible: Bool { exists(PrivateBus.program) }

    /// Starts the bus and waits until it accepts connections.
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

    /// The environment variable with the address.
    public var environment: [String] { ["DBUS_SESSION_BUS_ADDRESS=\(address)"] }
}
