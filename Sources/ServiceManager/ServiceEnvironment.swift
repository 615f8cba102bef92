import Glibc

/// The values that the service manager passed to the process in environment variables. Without a manager, all
/// properties are empty.
public struct ServiceEnvironment: ~Copyable, Sendable {
    /// The connection to the manager; `nil` if the manager expects no notifications.
    public let manager: ServiceManager?
    /// The inherited descriptors.
    public var descriptors: InheritedDescriptors
    /// The longest interval between two watchdog messages; `nil` if there is no watchdog.
    public let watchdogInterval: Duration?
    /// The maximum number of descriptors that the manager stores for the service; 0: none. `FDSTORE` contains it: since
    /// systemd 254 always, before that only if the unit sets it.
    public let descriptorStoreLimit: Int
    /// Variables with invalid values, for the log. They are ignored.
    public let problems: [ServiceManagerError]

    /// Every variable of the protocol. They must not reach child processes, which would use them as their own.
    static let variables = [
        "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC",
        "WATCHDOG_PID", "FDSTORE",
    ]

    /// The first inherited descriptor, after the standard streams.
    static let firstDescriptor: Int32 = 3

    /// Reads the variables of this process, removes them from its environment, and takes the descriptors.
    ///
    /// Must be called once, before anything else: while there is only one thread, no child, and no other descriptor.
    public static func take() -> ServiceEnvironment {
        var values: [String: String] = [:]
        for name in variables {
            guard let value = getenv(name) else { continue }
            values[name] = String(cString: value)
            unsetenv(name)
        }
        return ServiceEnvironment(values, pid: getpid()) { firstDescriptor + Int32($0) }
    }

    /// Calls `body` with the connection to the manager; does nothing if there is none.
    public borrowing func withManager(
        _ body: (borrowing ServiceManager) throws(ServiceManagerError) -> Void
    ) throws(ServiceManagerError) {
        switch manager {
        case .some(let manager): try body(manager)
        case .none: break
        }
    }

    /// - Parameters:
    ///   - variables: The variables that are set.
    ///   - pid: The id of this process. Values for another process are ignored.
    ///   - descriptorAt: Returns the number of the inherited descriptor at an index.
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

/// Parses the values of the variables.
private struct VariableReader {
    let variables: [String: String]
    let pid: pid_t

    /// Parses a number in the manager's form: decimal digits.
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
            // Sets close-on-exec before any child can start, because the manager passes the descriptors without it.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                let what = "LISTEN_FDS is \(count); take over descriptor \(descriptor) and those after it"
                problems.append(ServiceManagerError(errno, to: what))
                break
            }
            taken.append((names.isEmpty ? Self.unknownName : names[index], descriptor))
        }
        return taken
    }

    /// The name that systemd uses for descriptors without a name.
    private static let unknownName = "unknown"

    /// Returns whether the descriptors were passed to this process, and not to one of its ancestors.
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
                    "LISTEN_PID is \(owner), and this is process \(pid): the descriptors belong to that process"))
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
