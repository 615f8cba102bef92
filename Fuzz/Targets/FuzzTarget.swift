// The fuzz targets: what is fed with arbitrary bytes, and what must hold whatever they are. `make fuzz` runs them under
// libFuzzer, the tests in Fuzz/Replay over the inputs that are kept; docs/reliability.md says what each asserts.

/// Something that takes bytes from strangers.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Lines and messages of every dialect.
    case messages
    /// The daemon's core, with clients, a plugin and a clock.
    case runtime
    /// The state of a stream, of which each end may be a pipe.
    case streams
    /// What a plugin's process says, and manifests.
    case process
    /// The daemon's files.
    case configuration
    /// Queries of the persistence tasks, and their cursors.
    case query
    /// Offline packages.
    case package
    /// Set-Cookie lines, and the jar that takes them.
    case setcookie
    /// Files of cookies.
    case cookiefile
    /// The fields that caching goes by, and what it decides.
    case cachecontrol
    /// What messages cost a populated daemon, in CPU time.
    case cost

    /// Feeds it.
    ///
    /// - Throws: What does not hold. A trap is a finding as well.
    package func run(_ input: [UInt8]) throws(Violation) {
        switch self {
        case .messages: try fuzzMessages(input)
        case .runtime: try fuzzRuntime(input)
        case .streams: try fuzzStreams(input)
        case .process: try fuzzPluginProcess(input)
        case .configuration: try fuzzConfiguration(input)
        case .query: try fuzzQuery(input)
        case .package: try fuzzPackages(input)
        case .setcookie: try fuzzCookieLines(input)
        case .cookiefile: try fuzzCookieFiles(input)
        case .cachecontrol: try fuzzCacheRules(input)
        case .cost: try fuzzCost(input)
        }
    }

    /// For libFuzzer, which takes a trap for a finding.
    package func runOrTrap(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        do throws(Violation) {
            try run(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        } catch {
            fatalError("\(error)")
        }
        return 0
    }
}

/// Something that must hold, and does not.
package struct Violation: Error, CustomStringConvertible {
    /// What, in a sentence.
    package let description: String
}

/// - Throws: The reason, where the condition does not hold.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: reason()) }
}
