// ServiceManager: what a service manager (systemd) sets in the environment of a service, and what the service reports:
// the notify protocol, descriptors handed over, the watchdog. Without systemd's library: datagrams and variables.
//
//   ServiceEnvironment  the variables, read once and taken away
//   InheritedDescriptor descriptors that came with the process
//   ServiceManager      the way back: states, status, descriptors to be kept
//   DatagramSocket      how it gets there; the journal is spoken to in the same way

import Glibc

/// The way to the service manager: a datagram for each message, to the socket that `$NOTIFY_SOCKET` names.
///
/// Nothing blocks and nothing is repeated: a message that cannot be sent is an error, and the manager has not got it.
/// Any thread.
public struct ServiceManager: ~Copyable, Sendable {
    private let address: String
    private let socket: DatagramSocket

    /// A way to the manager that listens at `address`: a path, or `@` and an abstract name. Nothing is sent.
    ///
    /// - Throws: ``ServiceManagerError`` where the address is none, or where there is no socket to be had.
    public init(address: String) throws(ServiceManagerError) {
        socket = try DatagramSocket(to: address)
        self.address = address
    }

    /// Reports some states to the manager, all of them in one message.
    ///
    /// - Throws: ``ServiceManagerError``: the manager is gone, or does not read.
    public borrowing func notify(_ states: ServiceState...) throws(ServiceManagerError) { try notify(states) }

    /// The same with an array.
    public borrowing func notify(_ states: [ServiceState]) throws(ServiceManagerError) {
        try send(states.map(\.text).joined(separator: "\n"), [])
    }

    // MARK: The descriptor store

    /// The longest name of a stored descriptor, in bytes; the manager's own bound.
    public static let maximumNameBytes = 255

    /// Has the manager keep a copy of a descriptor. It hands it to the service's next process, whether this one ends in
    /// order or crashes; it forgets it when the service is stopped. The caller's descriptor stays the caller's.
    ///
    /// - Parameters:
    ///   - name: ASCII without control characters and colons, at most ``maximumNameBytes``. Several may bear one.
    ///   - outlivesHangUp: Whether it is kept although its other end is gone; otherwise the manager drops it then by
    ///     itself.
    /// - Throws: ``ServiceManagerError`` where the name cannot be used, or the message cannot be sent. The caller does
    ///   not learn that the manager's store is full (`FileDescriptorStoreMax=`).
    public borrowing func store(
        descriptor stored: Int32, named name: String, outlivesHangUp: Bool = false
    ) throws(ServiceManagerError) {
        try Self.check(name)
        try send("FDSTORE=1\nFDNAME=\(name)" + (outlivesHangUp ? "\nFDPOLL=0" : ""), [stored])
    }

    /// Waits until the manager has taken in everything that was sent before. Blocks this thread.
    ///
    /// - Throws: ``ServiceManagerError`` where it does not within `timeout`.
    public borrowing func awaitTaken(timeout: Duration) throws(ServiceManagerError) {
        let deadline = ContinuousClock.now + timeout
        var ends: (read: Int32, write: Int32) = (-1, -1)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let status = withUnsafeMutableBytes(of: &ends) {
            socketpair(AF_UNIX, kind, 0, $0.bindMemory(to: Int32.self).baseAddress)
        }
        guard status == 0 else { throw ServiceManagerError(errno, to: "make a socket pair") }
        defer { close(ends.read) }
        // The manager closes its copy of one end when it gets to the message.
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

    /// Has the manager forget the descriptors that were stored by this name.
    ///
    /// - Throws: ``ServiceManagerError``, as ``store(descriptor:named:)``.
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
                // The manager's queue is full: there is nothing to wait on but time.
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
