// The fuzz targets: code that is fed with arbitrary bytes, and the properties that must hold for any input. `make fuzz`
// runs them under libFuzzer; the tests in Fuzz/Replay run them with the kept inputs. docs/reliability.md lists the
// assertions of each.

/// A target: code that takes bytes from untrusted senders.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Lines and messages of every dialect.
    case messages
    /// The daemon's core, with clients, a plugin and a clock.
    case runtime
    /// The state of a stream, each end of which may be a pipe.
    case streams
    /// The messages of a plugin's process, and manifests.
    case process
    /// The daemon's files.
    case configuration
    /// Queries of the persistence tasks, and their cursors.
    case query
    /// Offline packages.
    case package
    /// Set-Cookie lines, and the cookie jar.
    case setcookie
    /// Files of cookies.
    case cookiefile
    /// The header fields for caching, and the decisions based on them.
    case cachecontrol
    /// The CPU time that messages cost a populated daemon.
    case cost

    /// Runs the target with an input.
    ///
    /// - Throws: the property that does not hold. A trap is a finding as well.
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

    /// Runs the target for libFuzzer, which treats a trap as a finding.
    package func runOrTrap(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        do throws(Violation) {
            try run(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
        } catch {
            fatalError("\(error)")
        }
        return 0
    }
}

/// A property that must hold, and does not.
package struct Violation: Error, CustomStringConvertible {
    /// The property, as a sentence.
    package let description: String
}

/// - Throws: the reason, if the condition does not hold.
func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: reason()) }
}
