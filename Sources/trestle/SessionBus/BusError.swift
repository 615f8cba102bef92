import EventLoop
import Glibc

/// An error of a bus connection.
enum BusError: Error, Sendable, Hashable {
    /// The environment does not specify the address of the bus.
    case noAddress
    /// The bus refuses connections.
    case unreachable(SystemError)
    /// The connection was lost; all open calls end with this.
    case lost(SystemError)
    /// The connection was closed by `close()`.
    case closed
    /// The recipient of a call or the bus itself answered with an error: the error's D-Bus name and message.
    case refused(name: String, message: String)
    /// A message could not be created or read.
    case message(SystemError)

    /// Whether no program on the bus has the called name, and none can be started for it.
    var isNobody: Bool {
        switch self {
        case .refused(name: "org.freedesktop.DBus.Error.ServiceUnknown", _),
            .refused(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _):
            true
        default: false
        }
    }

    /// Creates the error of a failed sd-bus function, whose status is a negated `errno`.
    init(status: Int32, _ operation: String, as make: (SystemError) -> BusError = BusError.message) {
        self = make(SystemError(code: -status, operation: operation))
    }
}

extension BusError: CustomStringConvertible {
    /// The error as one sentence.
    var description: String {
        switch self {
        case .noAddress: "there is no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
        case .unreachable(let error): "no session bus answers: \(error.reason)"
        case .lost(let error): "the connection to the session bus was lost: \(error.reason)"
        case .closed: "the connection to the session bus was closed"
        case .refused(let name, let message): message.isEmpty ? name : "\(message) (\(name))"
        case .message(let error): "a message on the session bus is invalid: \(error)"
        }
    }
}
