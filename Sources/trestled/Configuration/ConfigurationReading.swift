// A configuration as far as it is good, with everything that is wrong with it.

/// What came of reading a configuration.
struct ConfigurationReading: Sendable {
    /// Settings whose values are wrong are at their defaults.
    var configuration: Configuration
    /// What is wrong, in the order in which it stands there; empty: nothing.
    var problems: [ConfigurationProblem] = []
    /// The settings whose values are wrong, by key.
    var faulty: Set<String> = []
    /// Whether the file could be read; also true where there is none.
    var isOfFile = true

    /// Whether it is known which plugins there are and what their sections say.
    var knowsPlugins: Bool { isOfFile && !faulty.contains("plugin_dir") }

    /// The configuration where nothing is wrong with it.
    ///
    /// - Throws: everything that is wrong.
    func checked() throws(ConfigurationErrors) -> Configuration {
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        return configuration
    }

    /// Reads the rules. Blocks.
    mutating func readPolicy() {
        do throws(ConfigurationErrors) {
            configuration.policy = try PolicyRules(
                folder: configuration.policyDirectory, isNamed: configuration.origins["policy_dir"] != nil)
        } catch {
            problems += error.problems
        }
    }
}
