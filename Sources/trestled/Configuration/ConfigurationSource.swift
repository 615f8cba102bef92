// Where the configuration comes from: the same at launch and at each reload.
import TOMLDocument

/// A file, flags that beat it, and the surroundings that decide the defaults.
struct ConfigurationSource: Sendable {
    /// The file that was named, which must then exist; nil: the default one, if there is one.
    var file: String?
    /// What flags say.
    var overrides = ConfigurationOverrides()
    /// Who runs the daemon, with which variables.
    var environment: ConfigurationEnvironment
    /// The daemon's own file: plugins are looked for beside it.
    var executable: String

    /// What holds where nobody says anything.
    var defaults: Configuration {
        var defaults = Configuration(environment: environment, executable: executable)
        // Whoever names another file does not mean this machine's own rules.
        if let file { defaults.policyDirectory = file.parentFolder + "/policy.d" }
        return defaults
    }

    /// Reads the configuration. Blocks.
    ///
    /// - Throws: Everything that is wrong, at once; where the file is not TOML, its syntax error.
    func load() throws(ConfigurationErrors) -> Configuration {
        let document: TOMLDocument?
        do throws(TOMLError) {
            document = try read()
        } catch {
            throw ConfigurationErrors(problems: [ConfigurationProblem(error)])
        }
        var configuration = try defaults.overlaid(
            by: document, overrides, workingDirectory: environment.workingDirectory)
        configuration.policy = try PolicyRules(
            folder: configuration.policyDirectory, isNamed: configuration.origins["policy_dir"] != nil)
        return configuration
    }

    /// What flags alone make of the defaults, whatever the file says.
    func withoutFile() throws(ConfigurationErrors) -> Configuration {
        try defaults.overlaid(by: nil, overrides, workingDirectory: environment.workingDirectory)
    }

    /// The file named, or the default one; nil where that does not exist.
    private func read() throws(TOMLError) -> TOMLDocument? {
        if let file { return try TOMLDocument(contentsOf: file) }
        do {
            return try TOMLDocument(contentsOf: environment.defaultConfigurationFile)
        } catch  where error.isAbsentFile {
            return nil
        }
    }
}
