import Glibc

/// A peer that descriptors are sent to, beside messages. Used on one thread.
public protocol DescriptorReceiver: AnyObject {
    /// How many were sent, or are to be, that the peer may not have received.
    var unreadDescriptors: Int { get }

    /// Has a descriptor go beside the message that is written next.
    func pass(_ descriptor: PassedDescriptor)
}

/// A descriptor that goes beside a message, to a peer or from one. It is closed with this: once it has been sent, or
/// where nobody wants it.
public final class PassedDescriptor {
    /// Valid as long as this lives.
    public let descriptor: Int32
    private var isOwned = true

    /// Takes the descriptor over.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { if isOwned { close(descriptor) } }

    /// Gives the descriptor to the caller, who closes it.
    public func release() -> Int32 {
        isOwned = false
        return descriptor
    }
}
