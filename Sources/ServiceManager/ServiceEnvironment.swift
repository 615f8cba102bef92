import Glibc

/// What the service manager said when it started the process: a plain look at a few variables. Where there is no
/// manager there are none, and everything here is empty.
public struct ServiceEnvironment: ~Copyable, Sendable {
    /// The way back to the manager; nil: it wants to hear nothing.
    public let manager: ServiceManager?
    /// What was handed over.
    public var descriptors: InheritedDescriptors
    /// How often at least the watchdog wants to be fed; nil: there is none.
    public let watchdogInterval: Duration?
    /// How many descriptors the manager keeps for the service at most (`FDSTORE`: from systemd 254 on by itself, before
    /// that as its unit says); 0: none.
    public let descriptorStoreLimit: Int
    /// What could not be made sense of, for the log. The process goes on without it.
    public let problems: [ServiceManagerError]

    /// Every variable of the protocol. None of them may reach a child, which would take it for its own.
    static let variables = [
        "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC",
        "WATCHDOG_PID", "FDSTORE",
    ]

    /// Descriptors are handed over from this number on, behind the standard streams.
    static let firstDescriptor: Int32 = 3

    /// Reads the variables of this process, takes them out of its environment, and takes over the descriptors.
    ///
    /// Once, first of all: as long as there is but one thread, no child, and no descriptor of the process's own.
    public static func take() -> ServiceEnvironment {
        var values: [String: String] = [:]
        for name in variables {
            guard let value = getenv(name) else { continue }
            values[name] = String(cString: value)
            unsetenv(name)
        }
        return ServiceEnvironment(values, pid: getpid()) { firstDescriptor + Int32($0) }
    }

    /// Runs `body` with the connection to the manager; does nothing where there is none.
    public borrowing func withManager(
        _ body: (borrowing ServiceManager) throws(ServiceManagerError) -> Void
    ) throws(ServiceManagerError) {
        switch manager {
        case .some(let manager): try body(manager)
        case .none: break
        }
    }

    /// - Parameters:
    ///   - variables: those that are set.
    ///   - pid: this process: what was meant for another is left alone.
    ///   - descriptorAt: the number of the descriptor that is handed over in this place.
    init(_ variables: [String: String], pid: pid_t, descriptorAt: (Int) -> Int32) {
        var problems: [ServiceManagerError] = []
        var manager: ServiceManager?
        if let address = variables["NOTIFY_SOCKET"] {
            do throws(ServiceManagerError) {
                manager = try ServiceManager(address: address)
            } catch {
                problems.append(
                    ServiceManagerError(error.code, "NOTIFY_SOCKET names no socket, so nothing is notified: \(error)"))
            }
        }
        let reader = VariableReader(variables: variables, pid: pid)
        descriptors = InheritedDescriptors(reader.descriptors(descriptorAt, &problems))
        watchdogInterval = reader.watchdogInterval(&problems)
        descriptorStoreLimit = reader.descriptorStoreLimit(&problems)
        self.manager = manager
        self.problems = problems
    }
}

/// Makes sense of the variables' texts.
private struct VariableReader {
    let variables: [String: String]
    let pid: pid_t

    /// A number as the manager writes it: decimal digits.
    private func number(_ name: String, in range: ClosedRange<Int>, _ problems: inout [ServiceManagerError]) -> Int? {
        guard let text = variables[name] else { return nil }
        let isPlain = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if isPlain, let number = Int(text), range.contains(number) { return number }
        problems.append(
            ServiceManagerError(
                .variable,
                "\(name) is \"\(text.prefix(64))\", not a number from \(range.lowerBound) to \(range.upperBound): "
                    + "it is ignored"))
        return nil
    }

    // MARK: The watchdog

    func watchdogInterval(_ problems: inout [ServiceManagerError]) -> Duration? {
        guard let microseconds = number("WATCHDOG_USEC", in: 1...Int.max, &problems) else { return nil }
        if variables["WATCHDOG_PID"] != nil {
            guard let owner = number("WATCHDOG_PID", in: 1...Int(pid_t.max), &problems), owner == pid else {
                return nil
            }
        }
        return .microseconds(microseconds)
    }

    // MARK: Descriptors

    func descriptorStoreLimit(_ problems: inout [ServiceManagerError]) -> Int {
        number("FDSTORE", in: 0...Int(Int32.max), &problems) ?? 0
    }

    func descriptors(
        _ descriptorAt: (Int) -> Int32, _ problems: inout [ServiceManagerError]
    ) -> [(name: String, descriptor: Int32)] {
        guard variables["LISTEN_FDS"] != nil, isAddressee(&problems),
            let count = number(
                "LISTEN_FDS", in: 0...Int(Int32.max - ServiceEnvironment.firstDescriptor), &problems)
        else { return [] }
        let names = names(count, &problems)
        var taken: [(name: String, descriptor: Int32)] = []
        for index in 0..<count {
            let descriptor = descriptorAt(index)
            // Closed on exec before any child can be: the manager hands them over open.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                let what = "LISTEN_FDS is \(count); take over descriptor \(descriptor) and those behind it"
                problems.append(ServiceManagerError(errno, to: what))
                break
            }
            taken.append((names.isEmpty ? Self.unknownName : names[index], descriptor))
        }
        return taken
    }

    /// What systemd calls descriptors of which it knows no name.
    private static let unknownName = "unknown"

    /// Whether the descriptors were meant for this process, and not for one that started it.
    private func isAddressee(_ problems: inout [ServiceManagerError]) -> Bool {
        guard variables["LISTEN_PID"] != nil else {
            problems.append(
                ServiceManagerError(.variable, "LISTEN_FDS is set without LISTEN_PID: no descriptors are taken over"))
            return false
        }
        guard let owner = number("LISTEN_PID", in: 1...Int(pid_t.max), &problems) else { return false }
        guard owner == pid else {
            problems.append(
                ServiceManagerError(
                    .variable,
                    "LISTEN_PID is \(owner), and this is process \(pid): the descriptors are left to the other one"))
            return false
        }
        return true
    }

    private func names(_ count: Int, _ problems: inout [ServiceManagerError]) -> [String] {
        guard let text = variables["LISTEN_FDNAMES"] else { return [] }
        let names = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard names.count == count else {
            problems.append(
                ServiceManagerError(
                    .variable,
                    "LISTEN_FDNAMES has \(names.count) names for \(count) descriptors: none of them gets its name"))
            return []
        }
        return names
    }
}
