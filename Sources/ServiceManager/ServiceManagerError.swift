import Glibc

/// A failure between a service and its manager.
public struct ServiceManagerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: Sendable, Equatable {
        /// An invalid address.
        case address
        /// An invalid name of a descriptor.
        case name
        /// A variable of the manager with an invalid value.
        case variable
        /// A failed system call, with its `errno`.
        case system(Int32)
    }

    /// The kind of failure.
    public let code: Code
    /// The description, as a sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Creates an error for a failed system call.
    init(_ number: Int32, to operation: String) {
        self.init(.system(number), "\(operation): \(Self.reason(number))")
    }

    private static func reason(_ number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            // The buffer is large enough for the text of any error.
            guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: start)
        }
    }
}
