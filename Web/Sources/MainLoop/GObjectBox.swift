internal import CWebKitGTK

/// A strong reference to a GObject.
@MainActor
public final class GObjectBox {
    /// The object.
    public let raw: UnsafeMutableRawPointer

    /// Takes over a reference of the caller.
    ///
    /// - Parameter raw: A GObject that is not floating.
    public init(owning raw: UnsafeMutableRawPointer) { self.raw = raw }

    /// Adds a reference; a floating reference is taken over.
    ///
    /// - Parameter raw: A GObject.
    public init(retaining raw: UnsafeMutableRawPointer) {
        g_object_ref_sink(raw)
        self.raw = raw
    }

    isolated deinit { g_object_unref(raw) }

    /// The object as an opaque C pointer, for types without a declared structure.
    public var opaque: OpaquePointer { OpaquePointer(raw) }

    /// Returns the object as a pointer to a declared structure.
    ///
    /// - Parameter type: The structure; the object must be of its type.
    public func pointer<T>(to type: T.Type) -> UnsafeMutablePointer<T> { raw.assumingMemoryBound(to: type) }
}
