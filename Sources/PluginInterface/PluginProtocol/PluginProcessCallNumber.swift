/// The number of a call that the daemon hands to a process: an index, which is used again and again, and the number of
/// its use, so that a second answer is known for one. Who keeps something for each call that is open finds it by its
/// index.
package struct PluginProcessCallNumber: Sendable {
    /// As on the wire.
    package let value: UInt64

    /// Indices take the lower bits, uses those above, as far as programs read integers whose numbers are doubles.
    private static let indexBits: UInt64 = 20
    private static let indexMask: UInt64 = 1 << indexBits - 1
    private static let useMask: UInt64 = 1 << (53 - indexBits) - 1

    package init(_ value: UInt64) { self.value = value }

    /// The next number for an index. None is 0.
    ///
    /// - Parameters:
    ///   - index: below 2²⁰.
    ///   - last: the number that it had before; 0 where it had none.
    package init(index: Int, after last: PluginProcessCallNumber) {
        let use = max((last.value >> Self.indexBits + 1) & Self.useMask, 1)
        value = use << Self.indexBits | UInt64(truncatingIfNeeded: index) & Self.indexMask
    }

    /// Below 2²⁰, whatever the number is.
    package var index: Int { Int(truncatingIfNeeded: value & Self.indexMask) }
}
