package import CTaskPlugin

/// A caller's description in the form of the plugin interface, followed by its three texts in the same memory.
package enum ForeignCaller {
    /// Makes a description. The caller of this function frees it with `free`.
    ///
    /// - Parameters:
    ///   - caller: The description without the texts, which this adds.
    package static func make(
        _ caller: trestle_caller, origin: String, user: String?, client: String?
    ) -> UnsafeMutablePointer<trestle_caller> {
        let texts = [origin, user ?? "", client ?? ""].map { Array($0.utf8) }
        let size = MemoryLayout<trestle_caller>.size
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size + texts.reduce(0) { $0 + $1.count }, alignment: MemoryLayout<trestle_caller>.alignment)
        var end = size
        let copies = texts.map { text in
            let buffer = UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + text.count])
            buffer.copyBytes(from: text)
            end += text.count
            return trestle_bytes(UnsafeRawBufferPointer(buffer))
        }
        // `!`: an allocation has an address.
        let descriptor = memory.baseAddress!.bindMemory(to: trestle_caller.self, capacity: 1)
        descriptor.initialize(to: caller)
        descriptor.pointee.size = UInt32(size)
        descriptor.pointee.abi = TRESTLE_ABI
        (descriptor.pointee.origin, descriptor.pointee.user, descriptor.pointee.client) = (
            copies[0], copies[1], copies[2]
        )
        return descriptor
    }

    /// Frees a description.
    package static func free(_ descriptor: UnsafeMutablePointer<trestle_caller>) {
        UnsafeMutableRawPointer(descriptor).deallocate()
    }
}
