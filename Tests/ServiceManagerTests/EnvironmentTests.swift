import Glibc
import TestSupport
import Testing

@testable import ServiceManager

@Suite("The environment of a process from the service manager")
struct EnvironmentTests {
    /// A descriptor that is handed over. Its other end shows the test whether it was closed.
    private struct Handed {
        let descriptor: Int32
        private let other: Int32

        /// - Parameter isInherited: Whether children inherit it, as from a manager. Other tests start children,
        ///   which keep their copies open.
        init(isInherited: Bool = true) throws {
            var ends: [Int32] = [-1, -1]
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            if isInherited { try #require(fcntl(ends[0], F_SETFD, 0) == 0) }
            descriptor = ends[0]
            other = ends[1]
        }

        var isOpen: Bool {
            var byte: UInt8 = 0
            return recv(other, &byte, 1, Int32(MSG_DONTWAIT)) != 0
        }

        func end() { close(other) }
    }

    /// A descriptor that was taken and released, which a test can examine twice.
    private struct Taken {
        let name: String
        let descriptor: Int32

        init?(_ inherited: consuming InheritedDescriptor?) {
            guard let inherited else { return nil }
            name = inherited.name
            descriptor = inherited.release()
        }
    }

    private func read(_ variables: [String: String], _ handed: [Handed] = []) -> ServiceEnvironment {
        ServiceEnvironment(variables, pid: 7) { $0 < handed.count ? handed[$0].descriptor : -1 }
    }

    @Test("is empty without a manager")
    func nothing() {
        let environment = read([:])
        let hasManager = environment.manager != nil
        #expect(!hasManager)
        #expect(environment.descriptors.names == [])
        #expect(environment.watchdogInterval == nil)
        #expect(environment.problems.isEmpty)
    }

    @Test("gives descriptors with their names, closed on exec, and closed if they are not taken")
    func handedOver() throws {
        let handed = [try Handed(), try Handed(), try Handed(isInherited: false)]
        defer { for each in handed { each.end() } }
        do {
            var environment = read(
                ["LISTEN_PID": "7", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web.socket:stored.x:"], handed)
            #expect(environment.problems.isEmpty)
            #expect(environment.descriptors.names == ["web.socket", "stored.x", ""])
            for each in handed { #expect(fcntl(each.descriptor, F_GETFD) == FD_CLOEXEC) }
            let stored = Taken(environment.descriptors.take { $0.hasPrefix("stored.") })
            #expect(stored?.name == "stored.x" && stored?.descriptor == handed[1].descriptor)
            let web = Taken(environment.descriptors.take())
            #expect(web?.name == "web.socket" && web?.descriptor == handed[0].descriptor)
        }
        #expect(handed.map(\.isOpen) == [true, true, false])
        close(handed[0].descriptor)
        close(handed[1].descriptor)
    }

    @Test("gives no names if names and descriptors differ in number, and reports the problem")
    func unnamed() throws {
        let handed = [try Handed(), try Handed()]
        defer { for each in handed { each.end() } }
        let environment = read(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "one"], handed)
        #expect(environment.descriptors.names == ["unknown", "unknown"])
        #expect(environment.problems.map(\.code) == [.variable])
    }

    @Test("leaves descriptors for another process alone, and reports the problem")
    func another() throws {
        let handed = try Handed()
        defer { handed.end() }
        do {
            let environment = read(["LISTEN_PID": "8", "LISTEN_FDS": "1"], [handed])
            #expect(environment.descriptors.names == [])
            #expect(
                environment.problems.map(\.description) == [
                    "LISTEN_PID is 8, and this is process 7: the descriptors belong to that process"
                ])
        }
        #expect(handed.isOpen && fcntl(handed.descriptor, F_GETFD) == 0)
        close(handed.descriptor)
    }

    @Test("gives the open descriptors if they are fewer than stated, and reports the problem")
    func fewer() throws {
        let handed = try Handed()
        defer { handed.end() }
        let environment = read(["LISTEN_PID": "7", "LISTEN_FDS": "1000000000"], [handed])
        #expect(environment.descriptors.names == ["unknown"])
        #expect(environment.problems.map(\.code) == [.system(EBADF)])
    }

    @Test("contains the watchdog interval if it is for this process")
    func watchdog() {
        #expect(read(["WATCHDOG_USEC": "1500000"]).watchdogInterval == .milliseconds(1_500))
        #expect(read(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "7"]).watchdogInterval == .milliseconds(1_500))
        #expect(read(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "8"]).watchdogInterval == nil)
        #expect(read(["WATCHDOG_PID": "7"]).watchdogInterval == nil)
    }

    @Test(
        "is ignored and reported with the variable if it is invalid",
        arguments: [
            ["LISTEN_FDS": "1"], ["LISTEN_FDS": "", "LISTEN_PID": "7"], ["LISTEN_FDS": "-1", "LISTEN_PID": "7"],
            ["LISTEN_FDS": "1x", "LISTEN_PID": "7"], ["LISTEN_FDS": "+1", "LISTEN_PID": "7"],
            ["LISTEN_FDS": "99999999999999999999", "LISTEN_PID": "7"], ["LISTEN_FDS": "1", "LISTEN_PID": "seven"],
            ["LISTEN_FDS": "1", "LISTEN_PID": "0"], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "-5"],
            ["WATCHDOG_USEC": "soon"], ["WATCHDOG_USEC": "5", "WATCHDOG_PID": "me"], ["NOTIFY_SOCKET": "vsock:2:1"],
        ] as [[String: String]])
    func senseless(variables: [String: String]) {
        let environment = read(variables)
        let hasManager = environment.manager != nil
        #expect(!hasManager)
        #expect(environment.descriptors.names == [])
        #expect(environment.watchdogInterval == nil)
        #expect(environment.problems.count == 1)
        #expect(variables.keys.contains { environment.problems.first?.description.contains($0) == true })
    }

    @Test("causes no harm with random values")
    func anything() {
        var random = SeededGenerator(seed: 20_261)
        let alphabet = Array("0123456789:-+@/ \u{7F}é\n")
        for _ in 0..<5_000 {
            var variables: [String: String] = [:]
            for name in ServiceEnvironment.variables where Bool.random(using: &random) {
                let length = Int.random(in: 0...12, using: &random)
                variables[name] = String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "x" })
            }
            // No descriptor is open, so that none can be taken over, whatever the variables contain.
            let environment = read(variables)
            #expect(environment.descriptors.names == [])
            for problem in environment.problems { #expect(!problem.description.isEmpty) }
        }
    }
}
