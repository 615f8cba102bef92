import Glibc
import TestSupport
import Testing

@testable import ServiceManager

@Suite("What the service manager says when it starts a process")
struct EnvironmentTests {
    /// Some descriptors in a row, as a manager hands them over: far above the others of this process, and never in the place
    /// of one, for other tests run in the same process.
    private func descriptors(_ count: Int32) throws -> Int32 {
        let made = open("/dev/null", O_RDONLY)
        try #require(made >= 0)
        defer { close(made) }
        var first: Int32 = 800
        search: while true {
            for index in 0..<count {
                let copy = fcntl(made, F_DUPFD, first + index)
                try #require(copy >= 0)
                if copy == first + index { continue }
                close(copy)
                for taken in first..<first + index { close(taken) }
                first = copy + 1
                continue search
            }
            return first
        }
    }

    private func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

    /// A descriptor that was taken and released: what a test can look at twice.
    private struct Taken {
        let name: String
        let descriptor: Int32

        init?(_ inherited: consuming InheritedDescriptor?) {
            guard let inherited else { return nil }
            name = inherited.name
            descriptor = inherited.release()
        }
    }

    private func read(_ variables: [String: String], pid: pid_t = 7, first: Int32 = 900_000) -> ServiceEnvironment {
        ServiceEnvironment(variables, pid: pid, firstDescriptor: first)
    }

    @Test("is nothing where there is no manager")
    func nothing() {
        let environment = read([:])
        let hasManager = environment.manager != nil
        #expect(!hasManager)
        #expect(environment.descriptors.names == [])
        #expect(environment.watchdogInterval == nil)
        #expect(environment.problems.isEmpty)
    }

    @Test("are descriptors with their names, closed on exec, and closed where nobody takes them")
    func handedOver() throws {
        let first = try descriptors(3)
        do {
            var environment = read(
                ["LISTEN_PID": "7", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "web.socket:stored.x:"], first: first)
            #expect(environment.problems.isEmpty)
            #expect(environment.descriptors.names == ["web.socket", "stored.x", ""])
            for number in first..<first + 3 { #expect(fcntl(number, F_GETFD) == FD_CLOEXEC) }
            let stored = Taken(environment.descriptors.take { $0.hasPrefix("stored.") })
            #expect(stored?.name == "stored.x" && stored?.descriptor == first + 1)
            close(first + 1)
            let web = Taken(environment.descriptors.take())
            #expect(web?.name == "web.socket" && web?.descriptor == first)
        }
        #expect(isOpen(first))
        #expect(!isOpen(first + 1) && !isOpen(first + 2))
        close(first)
    }

    @Test("names nothing where names and descriptors are not of the same number, and says so")
    func unnamed() throws {
        let first = try descriptors(2)
        let environment = read(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "one"], first: first)
        #expect(environment.descriptors.names == ["unknown", "unknown"])
        #expect(environment.problems.map(\.code) == [.variable])
    }

    @Test("leaves descriptors alone that were meant for another process, and says so")
    func another() throws {
        let first = try descriptors(1)
        do {
            let environment = read(["LISTEN_PID": "8", "LISTEN_FDS": "1"], first: first)
            #expect(environment.descriptors.names == [])
            #expect(
                environment.problems.map(\.description) == [
                    "LISTEN_PID is 8, and this is process 7: the descriptors are left to the other one"
                ])
        }
        #expect(fcntl(first, F_GETFD) == 0)
        close(first)
    }

    @Test("takes over what is there where fewer descriptors are open than it says, and says so")
    func fewer() throws {
        let first = try descriptors(1)
        let environment = read(["LISTEN_PID": "7", "LISTEN_FDS": "1000000000"], first: first)
        #expect(environment.descriptors.names == ["unknown"])
        #expect(environment.problems.map(\.code) == [.system(EBADF)])
    }

    @Test("is how often the watchdog wants to be fed, by this process")
    func watchdog() {
        #expect(read(["WATCHDOG_USEC": "1500000"]).watchdogInterval == .milliseconds(1_500))
        #expect(read(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "7"]).watchdogInterval == .milliseconds(1_500))
        #expect(read(["WATCHDOG_USEC": "1500000", "WATCHDOG_PID": "8"]).watchdogInterval == nil)
        #expect(read(["WATCHDOG_PID": "7"]).watchdogInterval == nil)
    }

    @Test(
        "is ignored, and told with its variable, where it makes no sense",
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

    @Test("does no harm, whatever it is")
    func anything() {
        var random = SeededGenerator(seed: 20_261)
        let alphabet = Array("0123456789:-+@/ \u{7F}é\n")
        for _ in 0..<5_000 {
            var variables: [String: String] = [:]
            for name in ServiceEnvironment.variables where Bool.random(using: &random) {
                let length = Int.random(in: 0...12, using: &random)
                variables[name] = String((0..<length).map { _ in alphabet.randomElement(using: &random) ?? "x" })
            }
            // Nothing is open from that number on: whatever the variables say, nothing can be taken over.
            let environment = read(variables)
            #expect(environment.descriptors.names == [])
            for problem in environment.problems { #expect(!problem.description.isEmpty) }
        }
    }
}
