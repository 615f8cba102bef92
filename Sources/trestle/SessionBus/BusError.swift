import EventLoop
import Glibc

/// What can go wrong on a bus.
enum BusError: Error, Sendable, Hashable {
    /// Nothing in the environment says where the bus is.
    case noAddress
    /// The bus that the environment or the caller names takes no connection.
    case unreachable(SystemError)
    /// The connection was lost; every call that waited ends with this.
    case lost(SystemError)
    /// The connection was closed by `close()`.
    case closed
    /// A call was answered with an error, by whom it went to or by the bus itself: the error's D-Bus name.
    case refused(name: String, message: String)
    /// A message could not be made or read.
    case message(SystemError)

    /// Whether no program on the bus has the name that was called, and none can be started to take it.
    var isNobody: Bool {
        switch self {
        case .refused(name: "org.freedesktop.DBus.Error.ServiceUnknown", _),
            .refused(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _):
            true
        default: false
        }
    }

    /// The error of a failed function of sd-bus: its status is a negated `errno`.
    init(status: Int32, _ operation: String, as make: (SystemError) -> BusError = BusError.message) {
        self = make(SystemError(code: -status, operation: operation))
    }
}

extension BusError: CustomStringConvertible {
    /// One sentence.
    var description: String {
        switch self {
        case .noAddress: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR says where the session bus is"
        case .unreachable(let error): "no session bus answers: \(error.reason)"
        case .lost(let error): "the connection to the session bus was lost: \(error.reason)"
        case .closed: "the connection to the session bus was closed"
        case .refused(let name, let message): message.isEmpty ? name : "\(message) (\(name))"
        case .message(let error): "a message on the session bus makes no sense: \(error)"
        }
    }
}
