import CSystemdBus
import EventLoop
import Glibc

/// A connection object of sd-bus, as long as this value lives. One thread at a time may use it.
struct BusHandle: ~Copyable {
    let raw: OpaquePointer

    /// Begins to connect: to the bus at that address, or to the one that the environment names. Introducing itself to
    /// the bus goes on while messages are exchanged.
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
        // The library would otherwise be free to end the process with the connection.
        sd_bus_set_exit_on_disconnect(bus, 0)
    }

    private static func open(_ address: String, _ bus: inout OpaquePointer?) -> Int32 {
        var status = sd_bus_new(&bus)
        if status >= 0 { status = sd_bus_set_address(bus, address) }
        if status >= 0 { status = sd_bus_set_bus_client(bus, 1) }
        return status >= 0 ? sd_bus_start(bus) : status
    }

    deinit { sd_bus_unref(raw) }

    /// Ends the connection: nothing more is sent, received or called back.
    func close() { sd_bus_close(raw) }

    /// A call that has not been sent, with its values.
    /// - Throws: `message`; `lost` where there is no longer a connection.
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
