/// The number of a call that the daemon hands to a process: a place, which is used again and again, and the number of
/// its use, so that a second answer is known for one. Who keeps something for each call that is open finds it by its
/// place.
package struct WorkerCallNumber: Sendable {
    /// As on the wire.
    package let value: UInt64

    /// Places take the lower bits, uses those above, as far as programs read integers whose numbers are doubles.
    private static let placeBits: UInt64 = 20
    private static let placeMask: UInt64 = 1 << placeBits - 1
    private static let useMask: UInt64 = 1 << (53 - placeBits) - 1

    package init(_ value: UInt64) { self.value = value }

    /// The next number for a place. None is 0.
    ///
    /// - Parameters:
    ///   - place: below 2²⁰.
    ///   - last: the number that it had before; 0 where it had none.
    package init(place: Int, after last: WorkerCallNumber) {
        let use = max((last.value >> Self.placeBits + 1) & Self.useMask, 1)
        value = use << Self.placeBits | UInt64(truncatingIfNeeded: place) & Self.placeMask
    }

    /// Below 2²⁰, whatever the number is.
    package var place: Int { Int(truncatingIfNeeded: value & Self.placeMask) }
}
