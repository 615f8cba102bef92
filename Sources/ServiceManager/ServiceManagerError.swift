import Glibc

/// What went wrong between a service and its manager.
public struct ServiceManagerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of fault it is.
    public enum Code: Sendable, Equatable {
        /// An address that is none.
        case address
        /// A descriptor's name cannot be used.
        case name
        /// A variable that the manager sets has a value that it never sets.
        case variable
        /// The system refused, with this `errno`.
        case system(Int32)
    }

    /// What kind of fault it is.
    public let code: Code
    /// What happened, in a sentence.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The system refused to do something.
    init(_ number: Int32, to operation: String) {
        self.init(.system(number), "\(operation): \(Self.reason(number))")
    }

    private static func reason(_ number: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            // There is room for the text of any error.
            guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
                return "error \(number)"
            }
            return String(cString: start)
        }
    }
}
