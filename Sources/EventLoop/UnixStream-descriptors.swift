import CLibuv
import Glibc

// Descriptors beside the bytes of a socket.
extension UnixStream {
    /// Whether the peer has received all that was written.
    public var isReceived: Bool { clibuv_unreceived(descriptor) == 0 }

    /// Reads as `read` does, and hands descriptors that came to ``onDescriptor``.
    ///
    /// - Parameter isCut: it stopped behind bytes beside which descriptors came, and more may be there.
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
