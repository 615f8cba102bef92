import Glibc

/// Reads the available data of a socket, at most 8 KiB, without waiting.
///
/// - Returns: The data and its descriptors, which the caller closes; `nil` if nothing can be read.
public func receiveWithDescriptors(_ descriptor: Int32) -> (data: [UInt8], descriptors: [Int32])? {
    var data = [UInt8](repeating: 0, count: 8_192)
    // Aligned for the header, with space for the maximum number of descriptors of one message.
    var control = [UInt64](repeating: 0, count: 160)
    var descriptors: [Int32] = []
    let count = data.withUnsafeMutableBytes { data in
        control.withUnsafeMutableBytes { control in
            var vector = iovec(iov_base: data.baseAddress, iov_len: data.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_iov = vector
                message.msg_iovlen = 1
                message.msg_control = control.baseAddress
                message.msg_controllen = control.count
                // A child of another test must not inherit the received descriptors.
                let count = recvmsg(descriptor, &message, Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC))
                if count >= 0, message.msg_controllen > 0 {
                    descriptors = passedDescriptors(in: UnsafeRawBufferPointer(control))
                }
                return count
            }
        }
    }
    return count < 0 ? nil : (Array(data[..<count]), descriptors)
}

private func passedDescriptors(in control: UnsafeRawBufferPointer) -> [Int32] {
    let header = control.load(as: cmsghdr.self)
    let size = MemoryLayout<cmsghdr>.size
    return stride(from: size, to: Int(header.cmsg_len), by: MemoryLayout<Int32>.size).map {
        control.load(fromByteOffset: $0, as: Int32.self)
    }
}
