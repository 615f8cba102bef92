import CLibuv
import Glibc

// Descriptors that are sent with the bytes of a socket.
extension UnixStream {
    /// Whether the peer has received all written bytes.
    public var isReceived: Bool { clibuv_unreceived(descriptor) == 0 }

    /// Reads like `read`, and passes received descriptors to ``onDescriptor``.
    ///
    /// - Parameter isCut: Set to whether the read stopped after bytes with descriptors, and more bytes may be
    ///   available.
    func receive(_ buffer: UnsafeMutableRawPointer, _ capacityBytes: Int, isCut: inout Bool) -> Int {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: Int(clibuv_maximum_descriptors)) { descriptors in
            var descriptorCount: Int32 = 0
            let count = clibuv_receive_beside(
                descriptor, buffer, capacityBytes, descriptors.baseAddress, &descriptorCount)
            guard count >= 0 else { return count }
            isCut = descriptorCount > 0
            for descriptor in descriptors.prefix(Int(descriptorCount)) {
                onDescriptor?(UnixSocket(adopting: descriptor))
            }
            return count
        }
    }
}
