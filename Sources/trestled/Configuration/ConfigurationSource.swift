// Where the configuration comes from: the same at launch and at each reload.
import FileTrust
import Glibc
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

    /// What holds where nothing is set.
    var defaults: Configuration {
        var defaults = Configuration(environment: environment, executable: executable)
        // A user who names another file does not mean this machine's own rules.
        if let file {
            let file = file.wholePath(from: environment.workingDirectory)
            defaults.policyDirectory = file.parentFolder.withTrailingSlash + "policy.d"
        }
        return defaults
    }

    /// Reads the configuration. Blocks.
    ///
    /// - Throws: Everything that is wrong, as in ``read()``.
    func load() throws(ConfigurationErrors) -> Configuration { try read().checked() }

    /// Reads the configuration as far as it is good. Blocks.
    ///
    /// Of a file that is not TOML, or that others may write, nothing is used, and the rules are not looked at: where
    /// they are, the file may say.
    func read() -> ConfigurationReading {
        do throws(ConfigurationErrors) {
            var reading = defaults.overlaid(
                by: try trustedDocument(), overrides, workingDirectory: environment.workingDirectory)
            if !reading.faulty.contains("policy_dir") { reading.readPolicy() }
            return reading
        } catch {
            return ConfigurationReading(configuration: defaults, problems: error.problems, isOfFile: false)
        }
    }

    private func trustedDocument() throws(ConfigurationErrors) -> TOMLDocument? {
        let document: TOMLDocument?
        do throws(TOMLError) { document = try readDocument() } catch {
            throw ConfigurationErrors(problems: [ConfigurationProblem(error)])
        }
        if let document { try Self.check(document.file) }
        return document
    }

    /// Who may write the file may have the daemon run whatever they like, and listen wherever they like.
    private static func check(_ file: String) throws(ConfigurationErrors) {
        var status = stat()
        // A pipe is handed over by the program that starts the daemon.
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        do throws(FileTrust.Doubt) { try FileTrust.check(file) } catch {
            throw ConfigurationErrors(problems: [ConfigurationProblem(source: file, reason: error.description)])
        }
    }

    /// What flags alone make of the defaults, whatever the file says.
    func withoutFile() -> ConfigurationReading {
        defaults.overlaid(by: nil, overrides, workingDirectory: environment.workingDirectory)
    }

    /// The file named, or the default one; nil where that does not exist.
    private func readDocument() throws(TOMLError) -> TOMLDocument? {
        if let file { return try TOMLDocument(contentsOf: file) }
        do {
            return try TOMLDocument(contentsOf: environment.defaultConfigurationFile)
        } catch  where error.isAbsentFile {
            return nil
        }
    }
}
