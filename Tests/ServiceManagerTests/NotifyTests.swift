import Glibc
import TestSupport
import Testing

@testable import ServiceManager

@Suite("A message to the service manager")
struct NotifyTests {
    @Test("arrives as one datagram, at a path and at an abstract name", arguments: [false, true])
    func arrives(isAbstract: Bool) throws {
        let fake = try FakeServiceManager(isAbstract: isAbstract)
        let manager = try ServiceManager(address: fake.address)
        try manager.notify(.ready, .status("2 sessions"))
        #expect(try fake.text() == "READY=1\nSTATUS=2 sessions")
        try manager.notify(.stopping, .extendTimeout(.milliseconds(1_500)))
        #expect(try fake.text() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000")
        try manager.notify(.watchdog)
        #expect(try fake.text() == "WATCHDOG=1")
    }

    @Test("contains the time of the monotonic clock for a reload")
    func reloading() throws {
        let fake = try FakeServiceManager()
        func now() -> UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
        }
        let before = now()
        try ServiceManager(address: fake.address).notify(.reloading)
        let lines = try fake.text().split(separator: "\n")
        #expect(lines.first == "RELOADING=1")
        let sent = try #require(lines.last.flatMap { UInt64($0.dropFirst("MONOTONIC_USEC=".count)) })
        #expect((before...now()).contains(sent))
    }

    @Test("is one line for any status, and not longer than the manager reads")
    func oneLine() throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        try manager.notify(.status("a\nREADY=1\u{0}\r\u{7F}b"))
        #expect(try fake.text() == "STATUS=a READY=1   b")
        try manager.notify(.status(String(repeating: "é", count: 5_000)))
        let text = try fake.text()
        #expect(text == "STATUS=" + String(repeating: "é", count: ServiceState.statusBytes / 2))
    }

    @Test(
        "has times in whole microseconds, limited to 64 bits",
        arguments: [
            (Duration.seconds(-1), "0"), (.zero, "0"), (.nanoseconds(1_999), "1"), (.seconds(90), "90000000"),
            (.seconds(Int64.max), "18446744073709551615"),
        ])
    func times(duration: Duration, text: String) {
        #expect(ServiceState.extendTimeout(duration).text == "EXTEND_TIMEOUT_USEC=\(text)")
    }

    @Test("fails with a description if no manager listens")
    func nobody() throws {
        let manager = try ServiceManager(address: "/tmp/trestle-nobody-\(getpid())/notify")
        let error = #expect(throws: ServiceManagerError.self) { try manager.notify(.ready) }
        #expect(error?.code == .system(ENOENT))
        #expect(error?.description.hasPrefix("send to the service manager at /tmp/trestle-nobody-") == true)
    }

    @Test("fails immediately if the manager does not read")
    func full() throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        var failure: ServiceManagerError?
        // The kernel limits the queue of a datagram socket, in number and in bytes.
        for _ in 0..<1_000_000 where failure == nil {
            do throws(ServiceManagerError) { try manager.notify(.watchdog) } catch { failure = error }
        }
        #expect(failure?.code == .system(EAGAIN))
        #expect(try fake.text() == "WATCHDOG=1")
    }

    @Test(
        "is refused for an invalid address",
        arguments: [
            "", "@", "notify", "./notify", "vsock:2:1234", "/" + String(repeating: "x", count: 107),
            "@" + String(repeating: "x", count: 108), "/tmp/a\u{0}b",
        ])
    func addresses(address: String) {
        let error = #expect(throws: ServiceManagerError.self) { _ = try ServiceManager(address: address) }
        #expect(error?.code == .address)
    }
}

@Suite("The descriptor store")
struct DescriptorStoreTests {
    @Test("receives a copy of the descriptor with its name, and is asked to remove it")
    func store() throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try manager.store(descriptor: ends[0], named: "log of 2")
        let (text, copies) = try fake.receive()
        #expect(text == "FDSTORE=1\nFDNAME=log of 2")
        let copy = try #require(copies.first)
        defer { close(copy) }
        #expect(copies.count == 1 && copy != ends[0])
        #expect(write(ends[1], "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(copy, &byte, 1) == 1 && byte == UInt8(ascii: "x"))
        try manager.removeStored(named: "log of 2")
        #expect(try fake.text() == "FDSTOREREMOVE=1\nFDNAME=log of 2")
    }

    @Test("is asked to keep a descriptor although its other end is closed")
    func outlivesHangUp() throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        try manager.store(descriptor: 0, named: "parcel", outlivesHangUp: true)
        let (text, copies) = try fake.receive()
        for copy in copies { close(copy) }
        #expect(text == "FDSTORE=1\nFDNAME=parcel\nFDPOLL=0" && copies.count == 1)
    }

    @Test("fails with a system error for a descriptor that is not open")
    func closed() throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        let error = #expect(throws: ServiceManagerError.self) {
            try manager.store(descriptor: 1_000_000, named: "nothing")
        }
        #expect(error?.code == .system(EBADF))
    }

    @Test(
        "refuses a name that has another meaning for the manager",
        arguments: ["", "a:b", "a\nREADY=1", "é", "\u{7F}", String(repeating: "n", count: 256)])
    func names(name: String) throws {
        let fake = try FakeServiceManager()
        let manager = try ServiceManager(address: fake.address)
        let error = #expect(throws: ServiceManagerError.self) { try manager.removeStored(named: name) }
        #expect(error?.code == .name)
        #expect(throws: ServiceManagerError.self) { try manager.store(descriptor: 0, named: name) }
    }
}
