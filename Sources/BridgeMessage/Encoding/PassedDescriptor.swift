import Glibc

/// A peer that receives descriptors along with messages. Used on one thread.
public protocol DescriptorReceiver: AnyObject {
    /// The number of descriptors that were sent, or wait, and that the peer may not have received.
    var unreadDescriptors: Int { get }

    /// Sends a descriptor with the message that is written next.
    func pass(_ descriptor: PassedDescriptor)
}

/// A descriptor that is sent or received with a message. The object closes it when it is released: after sending, or if
/// the descriptor is not used.
public final class PassedDescriptor {
    /// Valid during the lifetime of this object.
    public let descriptor: Int32
    private var isOwned = true

    /// Takes ownership of the descriptor.
    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { if isOwned { close(descriptor) } }

    /// Passes the descriptor to the caller, which must close it.
    public func release() -> Int32 {
        isOwned = false
        return descriptor
    }
}
