import CSystemdBus
import EventLoop
import Glibc

/// A connection object of sd-bus; released with this value. One thread at a time.
struct BusHandle: ~Copyable {
    let raw: OpaquePointer

    /// Begins to connect to the bus at this address, or to the one in the environment. The handshake continues while
    /// messages are exchanged.
    /// - Throws: `noAddress`, `unreachable`.
    init(address: String?) throws(BusError) {
        var bus: OpaquePointer?
        let status = address.map { Self.open($0, &bus) } ?? sd_bus_open_user(&bus)
        guard status >= 0, let bus else {
            sd_bus_unref(bus)
            if status == -ENOMEDIUM { throw .noAddress }
            throw BusError(status: status, "connect to the session bus", as: BusError.unreachable)
        }
        raw = bus
        // Otherwise the library may end the process when the connection is lost.
        sd_bus_set_exit_on_disconnect(bus, 0)
    }

    private static func open(_ address: String, _ bus: inout OpaquePointer?) -> Int32 {
        var status = sd_bus_new(&bus)
        if status >= 0 { status = sd_bus_set_address(bus, address) }
        if status >= 0 { status = sd_bus_set_bus_client(bus, 1) }
        return status >= 0 ? sd_bus_start(bus) : status
    }

    deinit { sd_bus_unref(raw) }

    /// Closes the connection: nothing is sent, received or called back after that.
    func close() { sd_bus_close(raw) }

    /// Creates a call with its values, without sending it.
    /// - Throws: `message`; `lost` if there is no connection any more.
    func message(_ method: BusMethod, _ arguments: [BusValue]) throws(BusError) -> MessageHandle {
        var message: OpaquePointer?
        let status = sd_bus_message_new_method_call(
            raw, &message, method.destination, method.path, method.interface, method.member)
        guard status >= 0, let message else {
            throw BusError(
                status: status, "call \(method.member)", as: status == -ENOTCONN ? BusError.lost : BusError.message)
        }
        let handle = MessageHandle(adopting: message)
        try handle.append(arguments)
        return handle
    }
}
