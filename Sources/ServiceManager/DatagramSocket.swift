import Glibc

/// A Unix socket that sends datagrams to one address without blocking. Any thread.
public struct DatagramSocket: ~Copyable, Sendable {
    /// Closed with this value.
    private let descriptor: Int32
    private let address: DatagramAddress

    /// Creates a socket that sends to `address`: a path, or `@` and an abstract name. The receiver need not exist yet.
    ///
    /// - Throws: ``ServiceManagerError`` if the address is invalid or the socket cannot be created.
    public init(to text: String) throws(ServiceManagerError) {
        let address = try DatagramAddress(text)
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else {
            throw ServiceManagerError(errno, to: "make a socket that sends to \(text)")
        }
        self.address = address
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Sends one datagram, with copies of the descriptors attached.
    ///
    /// - Returns: 0, or the `errno`: `ENOENT` or `ECONNREFUSED` (there is no receiver), `EAGAIN` (the receiver does not
    ///   read), `EMSGSIZE` (it is too long), or another one.
    public borrowing func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Int32 {
        address.withSocketAddress { name, nameBytes in
            bytes.withUnsafeBytes { bytes in
                withControlMessage(descriptors) { control in
                    var vector = iovec(
                        // sendmsg reads these bytes and does not write them.
                        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
                    return withUnsafeMutablePointer(to: &vector) { vector in
                        var message = msghdr()
                        message.msg_name = UnsafeMutableRawPointer(mutating: name)
                        message.msg_namelen = nameBytes
                        message.msg_iov = vector
                        message.msg_iovlen = 1
                        message.msg_control = control.baseAddress
                        message.msg_controllen = control.count
                        return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) < 0 ? errno : 0
                    }
                }
            }
        }
    }
}

/// Calls `body` with the ancillary data for descriptors (SCM_RIGHTS); the data are empty if there are no descriptors.
///
/// The layout is built by hand, because the C macros for it cannot be imported: a header, whose length counts itself
/// and the data, then the data, then padding to the header's alignment.
private func withControlMessage<R>(_ descriptors: [Int32], _ body: (UnsafeMutableRawBufferPointer) -> R) -> R {
    guard !descriptors.isEmpty else { return body(UnsafeMutableRawBufferPointer(start: nil, count: 0)) }
    let alignment = MemoryLayout<Int>.alignment
    let headerBytes = (MemoryLayout<cmsghdr>.size + alignment - 1) & ~(alignment - 1)
    let dataBytes = descriptors.count * MemoryLayout<Int32>.size
    let spaceBytes = headerBytes + (dataBytes + alignment - 1) & ~(alignment - 1)
    return withUnsafeTemporaryAllocation(byteCount: spaceBytes, alignment: alignment) { space in
        space.initializeMemory(as: UInt8.self, repeating: 0)
        var header = cmsghdr()
        header.cmsg_len = headerBytes + dataBytes
        header.cmsg_level = SOL_SOCKET
        header.cmsg_type = Int32(SCM_RIGHTS)
        space.storeBytes(of: header, as: cmsghdr.self)
        let data = UnsafeMutableRawBufferPointer(rebasing: space[headerBytes...])
        descriptors.withUnsafeBytes { data.copyBytes(from: $0) }
        return body(space)
    }
}

/// The address of a datagram socket.
private struct DatagramAddress: Sendable {
    private let name: [UInt8]

    /// The maximum size of a name in bytes, without the zero after a path or before an abstract name.
    private static let maximumBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    init(_ text: String) throws(ServiceManagerError) {
        let isAbstract = text.hasPrefix("@")
        guard isAbstract ? text.utf8.count > 1 : text.hasPrefix("/"), !text.utf8.contains(0) else {
            throw ServiceManagerError(.address, "\"\(text.prefix(128))\" is neither a path nor @ and a name")
        }
        let nameBytes = text.utf8.count - (isAbstract ? 1 : 0)
        guard nameBytes <= Self.maximumBytes else {
            throw ServiceManagerError(
                .address, "it has \(nameBytes) bytes, and a socket's name at most \(Self.maximumBytes)")
        }
        // A leading zero byte marks an abstract name; a path ends with a zero byte.
        name = isAbstract ? [0] + text.utf8.dropFirst() : text.utf8 + [0]
    }

    /// Calls `body` with the address in the system's form.
    func withSocketAddress<R>(_ body: (UnsafeRawPointer, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length determines the end of an abstract name. `!`: the field is a stored property.
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count
        return withUnsafeBytes(of: &address) { bytes in
            // `!`: a local value has an address.
            body(bytes.baseAddress!, socklen_t(length))
        }
    }
}
