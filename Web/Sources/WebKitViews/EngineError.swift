internal import CWebKitGTK

/// An error of GLib.
public struct EngineError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error domain, as GLib names it.
    public var domain: String
    /// The error number in the domain.
    public var number: Int
    /// The message.
    public var description: String

    /// Creates an error of this program.
    ///
    /// - Parameter description: The message.
    init(_ description: String) {
        (domain, number) = ("trestle-web", 0)
        self.description = description
    }

    /// Takes ownership of an error; `nil` for one without a message.
    init(owning error: UnsafeMutablePointer<GError>?) {
        domain = error.flatMap { g_quark_to_string($0.pointee.domain) }.map { String(cString: $0) } ?? ""
        number = error.map { Int($0.pointee.code) } ?? 0
        description = error?.pointee.message.map { String(cString: $0) } ?? "the engine gives no reason"
        if let error { g_error_free(error) }
    }

    /// Copies an error that a signal passes.
    init(copying error: UnsafeMutableRawPointer?) {
        self.init(owning: error.flatMap { g_error_copy($0.assumingMemoryBound(to: GError.self)) })
    }
}
