// ServiceManager: the interface between a service and its service manager (systemd): variables, the notify protocol,
// inherited descriptors and the watchdog. Uses datagrams and variables instead of systemd's library.
//
//   ServiceEnvironment  the variables, read once and then removed
//   InheritedDescriptor descriptors that the process inherited
//   ServiceManager      the connection to the manager: states, status, stored descriptors
//   DatagramSocket      the transport, which is also used for the journal

import Glibc

/// The connection to the service manager. It sends one datagram for each message to the socket in `$NOTIFY_SOCKET`.
///
/// Does not block, except in ``awaitTaken(timeout:)``, and does not retry: a message that cannot be sent is an error
/// and was not delivered. Any thread.
public struct ServiceManager: ~Copyable, Sendable {
    private let address: String
    private let socket: DatagramSocket

    /// Creates a connection to the manager at `address`: a path, or `@` and an abstract name. Sends nothing.
    ///
    /// - Throws: ``ServiceManagerError`` if the address is invalid or the socket cannot be created.
    public init(address: String) throws(ServiceManagerError) {
        socket = try DatagramSocket(to: address)
        self.address = address
    }

    /// Reports states to the manager, all in one message.
    ///
    /// - Throws: ``ServiceManagerError`` if the manager has ended or does not read.
    public borrowing func notify(_ states: ServiceState...) throws(ServiceManagerError) { try notify(states) }

    /// Reports the states of an array, all in one message.
    public borrowing func notify(_ states: [ServiceState]) throws(ServiceManagerError) {
        try send(states.map(\.text).joined(separator: "\n"), [])
    }

    // MARK: The descriptor store

    /// The maximum size of a stored descriptor's name in bytes, a limit of the manager.
    public static let maximumNameBytes = 255

    /// Stores a copy of a descriptor in the manager. The manager passes it to the service's next process, whether this
    /// one exits or crashes. It closes the copy when the service is stopped. The caller keeps its own descriptor.
    ///
    /// - Parameters:
    ///   - name: ASCII without control characters and colons, at most ``maximumNameBytes``. Several descriptors may
    ///     have the same name.
    ///   - outlivesHangUp: Whether the manager keeps it after its other end was closed. Otherwise the manager then
    ///     removes it.
    /// - Throws: ``ServiceManagerError`` if the name is invalid or the message cannot be sent. The manager does not
    ///   report that its store is full (`FileDescriptorStoreMax=`).
    public borrowing func store(
        descriptor stored: Int32, named name: String, outlivesHangUp: Bool = false
    ) throws(ServiceManagerError) {
        try Self.check(name)
        try send("FDSTORE=1\nFDNAME=\(name)" + (outlivesHangUp ? "\nFDPOLL=0" : ""), [stored])
    }

    /// Waits until the manager has processed all earlier messages. Blocks this thread.
    ///
    /// - Throws: ``ServiceManagerError`` if that takes longer than `timeout`.
    public borrowing func awaitTaken(timeout: Duration) throws(ServiceManagerError) {
        let deadline = ContinuousClock.now + timeout
        var ends: (read: Int32, write: Int32) = (-1, -1)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let status = withUnsafeMutableBytes(of: &ends) {
            socketpair(AF_UNIX, kind, 0, $0.bindMemory(to: Int32.self).baseAddress)
        }
        guard status == 0 else { throw ServiceManagerError(errno, to: "make a socket pair") }
        defer { close(ends.read) }
        // The manager closes its copy of this end when it processes the message.
        let sent = Result { () throws(ServiceManagerError) in try send("BARRIER=1", [ends.write], until: deadline) }
        close(ends.write)
        try sent.get()
        var state = pollfd(fd: ends.read, events: 0, revents: 0)
        repeat {
            let left = max(.zero, deadline - ContinuousClock.now)
            if poll(&state, 1, Int32(clamping: Int64(left / .milliseconds(1)))) > 0 { return }
        } while ContinuousClock.now < deadline
        throw ServiceManagerError(ETIMEDOUT, to: "wait for the service manager at \(address)")
    }

    /// Removes the descriptors that were stored under this name from the manager.
    ///
    /// - Throws: ``ServiceManagerError``, as ``store(descriptor:named:outlivesHangUp:)``.
    public borrowing func removeStored(named name: String) throws(ServiceManagerError) {
        try Self.check(name)
        try send("FDSTOREREMOVE=1\nFDNAME=\(name)", [])
    }

    private static func check(_ name: String) throws(ServiceManagerError) {
        let isGood = name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: ":") }
        guard isGood, (1...maximumNameBytes).contains(name.utf8.count) else {
            throw ServiceManagerError(
                .name,
                "a stored descriptor's name has 1 to \(maximumNameBytes) printable ASCII characters and no colon")
        }
    }

    // MARK: Sending

    private borrowing func send(
        _ text: String, _ descriptors: [Int32], until deadline: ContinuousClock.Instant
    ) throws(ServiceManagerError) {
        while true {
            do throws(ServiceManagerError) {
                return try send(text, descriptors)
            } catch {
                // The manager's queue is full. There is no event to wait for, so this sleeps.
                guard error.code == .system(EAGAIN), ContinuousClock.now < deadline else { throw error }
                usleep(1_000)
            }
        }
    }

    private borrowing func send(_ text: String, _ descriptors: [Int32]) throws(ServiceManagerError) {
        let status = socket.send(Array(text.utf8), descriptors: descriptors)
        guard status == 0 else {
            throw ServiceManagerError(status, to: "send to the service manager at \(address)")
        }
    }
}
