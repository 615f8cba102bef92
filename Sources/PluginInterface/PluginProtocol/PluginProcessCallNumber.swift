/// The number of a call that the daemon sends to a process. It consists of an index, which is reused, and a use count,
/// which makes a second answer detectable. Both ends find the data of an open call by its index.
package struct PluginProcessCallNumber: Sendable {
    /// The number in messages.
    package let value: UInt64

    /// The width of the index, in the lower bits. The use count has the bits above, up to the 53 bits of an integer in
    /// a double.
    private static let indexBits: UInt64 = 20
    private static let indexMask: UInt64 = 1 << indexBits - 1
    private static let useMask: UInt64 = 1 << (53 - indexBits) - 1

    package init(_ value: UInt64) { self.value = value }

    /// The next number for an index, which is never 0.
    ///
    /// - Parameters:
    ///   - index: The index, below 2²⁰.
    ///   - last: The previous number of this index; 0 if it had none.
    package init(index: Int, after last: PluginProcessCallNumber) {
        let use = max((last.value >> Self.indexBits + 1) & Self.useMask, 1)
        value = use << Self.indexBits | UInt64(truncatingIfNeeded: index) & Self.indexMask
    }

    /// The index, below 2²⁰ for any number.
    package var index: Int { Int(truncatingIfNeeded: value & Self.indexMask) }
}
