// The valid part of a configuration, with all its problems.

/// The result of reading a configuration.
struct ConfigurationReading: Sendable {
    /// The configuration. Settings with invalid values have their defaults.
    var configuration: Configuration
    /// The problems, in the order of the file; empty if there are none.
    var problems: [ConfigurationProblem] = []
    /// The keys of the settings with invalid values.
    var faulty: Set<String> = []
    /// Whether the file could be read; also true if there is no file.
    var isOfFile = true

    /// Whether the plugin directories and the plugins' sections are valid.
    var knowsPlugins: Bool { isOfFile && !faulty.contains("plugin_dir") }

    /// Returns the configuration if it has no problems.
    ///
    /// - Throws: All problems.
    func checked() throws(ConfigurationErrors) -> Configuration {
        guard problems.isEmpty else { throw ConfigurationErrors(problems: problems) }
        return configuration
    }

    /// Reads the policy rules. Blocks.
    mutating func readPolicy() {
        do throws(ConfigurationErrors) {
            configuration.policy = try PolicyRules(
                folder: configuration.policyDirectory, isNamed: configuration.origins["policy_dir"] != nil)
        } catch {
            problems += error.problems
        }
    }
}
