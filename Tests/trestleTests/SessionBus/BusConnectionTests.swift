import EventLoop
import Foundation
import TestSupport
import Testing

@testable import trestle

/// Returns a method of the bus itself.
private func ofTheBus(_ member: String) -> BusMethod {
    BusMethod(
        destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
        member: member)
}

@Suite(
    "A connection to a bus", .timeLimit(.minutes(10)),
    .enabled(if: FileManager.default.isExecutableFile(atPath: PrivateBus.program), "needs dbus-daemon"))
@LoopActor struct BusConnectionTests {
    @Test("a call returns the values of its reply and the sender")
    func call() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        let names = try await connection.call(ofTheBus("ListNames"))
        #expect(names.sender == "org.freedesktop.DBus")
        #expect(names.body.first?.texts?.contains("org.freedesktop.DBus") == true)
        let owned = try await connection.call(ofTheBus("NameHasOwner"), [.string("org.example.Nobody")])
        #expect(owned.body == [.boolean(false)])
        let uid = try await connection.call(ofTheBus("GetConnectionUnixUser"), [.string("org.freedesktop.DBus")])
        #expect(uid.body == [.uint32(getuid())])
        connection.close()
    }

    @Test("a value of an unsupported type is reported as such; other values in its dictionary are read")
    func otherTypes() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        _ = try await connection.call(ofTheBus("RequestName"), [.string("org.example.One"), .uint32(0)])
        let peer = try await connection.call(ofTheBus("GetConnectionCredentials"), [.string("org.example.One")])
        guard case .properties(let properties) = try #require(peer.body.first) else {
            Issue.record("no dictionary: \(peer.body)")
            return
        }
        #expect(properties["UnixUserID"] == .uint32(getuid()))
        // An array of numbers, which is not read.
        #expect(properties["UnixGroupIDs"] == .other)
        connection.close()
    }

    @Test("a refused call ends with the error's name and message")
    func refused() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        let nobody = BusMethod(
            destination: "org.example.Nobody", path: "/", interface: "org.example.Nobody", member: "Work")
        let error = await #expect(throws: BusError.self) { try await connection.call(nobody) }
        #expect(error?.isNobody == true)
        #expect("\(error.map { "\($0)" } ?? "")".contains("org.freedesktop.DBus.Error.ServiceUnknown"))
        let wrong = await #expect(throws: BusError.self) { try await connection.call(ofTheBus("NameHasOwner"), []) }
        #expect(wrong?.isNobody == false)
        connection.close()
    }

    @Test("a value that D-Bus cannot carry is not sent, and the connection stays usable")
    func unsendable() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        for value in [BusValue.string("a\u{0}b"), .other] {
            let error = await #expect(throws: BusError.self) {
                try await connection.call(ofTheBus("NameHasOwner"), [value])
            }
            guard case .message? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        _ = try await connection.call(ofTheBus("GetId"))
        connection.close()
    }

    @Test("a subscriber receives only the matching signals")
    func signals() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        var heard: [BusMessage] = []
        let change = BusSignal(
            sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
            firstText: "org.example.One")
        try connection.receive(change) { heard.append($0) }
        _ = try await connection.call(ofTheBus("GetId"))
        let other = try BusConnection(address: bus.address)
        for name in ["org.example.Two", "org.example.One"] {
            _ = try await other.call(ofTheBus("RequestName"), [.string(name), .uint32(0)])
        }
        // The answer arrives after the signals that were sent before it.
        _ = try await connection.call(ofTheBus("GetId"))
        #expect(heard.map { $0.body.first } == [.string("org.example.One")])
        other.close()
        connection.close()
    }

    @Test("when the bus ends, waiting calls fail, and later calls report the lost connection")
    func lost() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        _ = try await connection.call(ofTheBus("GetId"))
        bus.process.signal(SIGSTOP)
        var result: Result<BusMessage, BusError>?
        connection.call(ofTheBus("GetId")) { result = $0 }
        bus.process.signal(SIGKILL)
        let end = await connection.ended()
        #expect("\(end)".hasPrefix("the connection to the session bus was lost: "))
        #expect(throws: BusError.self) { try result?.get() }
        await #expect(throws: end) { try await connection.call(ofTheBus("GetId")) }
        #expect(throws: end) {
            try connection.receive(BusSignal(interface: "org.example.One", member: "Changed")) { _ in }
        }
    }

    @Test("closing ends waiting calls, and ended() returns")
    func closed() async throws {
        let bus = try SessionBusProcess()
        let connection = try BusConnection(address: bus.address)
        var result: Result<BusMessage, BusError>?
        connection.call(ofTheBus("GetId")) { result = $0 }
        connection.close()
        #expect(result == .failure(.closed))
        #expect(await connection.ended() == .closed)
        connection.close()
    }

    @Test("connecting without a bus fails at once")
    func nobody() throws {
        let error = #expect(throws: BusError.self) { try BusConnection(address: "unix:path=/nowhere/bus") }
        #expect(error.map { "\($0)" } == "no session bus answers: no such file or directory (ENOENT)")
        #expect(throws: BusError.self) { try BusConnection(address: "carrier-pigeon:") }
    }
}
