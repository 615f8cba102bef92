import CLibuv
import Glibc

/// A system call or a call of libuv that failed.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The `errno` value, such as `ENOENT`.
    public let code: Int32
    /// The failed operation, in words or as the call's name: "connect".
    public let operation: String
    /// The object of the operation, usually a path; `nil` if there is none.
    public let subject: String?
    /// A message that explains more than the code; `nil` if there is none.
    public let advice: String?

    /// Creates an error of the operation with that `errno` code.
    public init(code: Int32, operation: String, subject: String? = nil, advice: String? = nil) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.advice = advice
    }

    /// The code's own name, such as "ENOENT".
    public var name: String {
        Self.text { uv_err_name_r(-code, $0, $1) }
    }

    /// One sentence: "connect /run/x.sock: no such file or directory (ENOENT)".
    public var description: String {
        "\(subject.map { "\(operation) \($0)" } ?? operation): \(reason)"
    }

    /// The second part of the description: "no such file or directory (ENOENT)".
    public var reason: String {
        advice ?? "\(Self.text { uv_strerror_r(-code, $0, $1) }) (\(name))"
    }

    private static func text(_ fill: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            start.initialize(to: 0)
            _ = fill(start, buffer.count)
            return String(cString: start)
        }
    }
}

/// Repeats a system call while signals interrupt it. Returns its result; `errno` is valid if that is -1.
@inline(__always)
func uninterrupted<R: SignedInteger>(_ call: () -> R) -> R {
    while true {
        let result = call()
        if result != -1 || errno != EINTR { return result }
    }
}

/// Performs a system call: repeats it if a signal interrupts it, and throws if it fails.
@discardableResult
func systemCall<R: SignedInteger>(
    _ operation: StaticString, _ subject: @autoclosure () -> String? = nil, _ call: () -> R
) throws(SystemError) -> R {
    let result = uninterrupted(call)
    guard result != -1 else {
        throw SystemError(code: errno, operation: operation.description, subject: subject())
    }
    return result
}

/// Checks a status of libuv, which is a negated `errno` if the call failed.
func check(
    _ status: Int32, _ operation: StaticString, _ subject: @autoclosure () -> String? = nil
) throws(SystemError) {
    guard status >= 0 else {
        throw SystemError(code: -status, operation: operation.description, subject: subject())
    }
}

/// Checks a status of libuv that is negative only if this module has a bug.
func require(_ status: Int32, _ operation: StaticString) {
    precondition(status >= 0, "\(operation): \(SystemError(code: -status, operation: operation.description))")
}
