internal import CWebKitGTK

/// An error of GLib's.
public struct EngineError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Whose error it is, as GLib names it.
    public var domain: String
    /// Its number there.
    public var number: Int
    /// What it says.
    public var description: String

    /// An error of this program's.
    ///
    /// - Parameter description: What it says.
    init(_ description: String) {
        (domain, number) = ("trestle-web", 0)
        self.description = description
    }

    /// Takes an error over; nil stands for one that says nothing.
    init(owning error: UnsafeMutablePointer<GError>?) {
        domain = error.flatMap { g_quark_to_string($0.pointee.domain) }.map { String(cString: $0) } ?? ""
        number = error.map { Int($0.pointee.code) } ?? 0
        description = error?.pointee.message.map { String(cString: $0) } ?? "the engine does not say why"
        if let error { g_error_free(error) }
    }

    /// Copies an error that a signal hands out.
    init(copying error: UnsafeMutableRawPointer?) {
        self.init(owning: error.flatMap { g_error_copy($0.assumingMemoryBound(to: GError.self)) })
    }
}
