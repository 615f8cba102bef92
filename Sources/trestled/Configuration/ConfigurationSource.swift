// The source of the configuration, the same at launch and at each reload.
import FileTrust
import Glibc
import TOMLDocument

/// A file, flags that override it, and the environment that determines the defaults.
struct ConfigurationSource: Sendable {
    /// The file that the user named, which must exist; `nil` for the default file, if it exists.
    var file: String?
    /// The values of the flags.
    var overrides = ConfigurationOverrides()
    /// The user that runs the daemon, and its environment variables.
    var environment: ConfigurationEnvironment
    /// The daemon's own file; plugins are searched beside it.
    var executable: String

    /// The configuration without file and flags.
    var defaults: Configuration {
        var defaults = Configuration(environment: environment, executable: executable)
        // A user that names another file does not expect the system's own rules.
        if let file {
            let file = file.wholePath(from: environment.workingDirectory)
            defaults.policyDirectory = file.parentFolder.withTrailingSlash + "policy.d"
        }
        return defaults
    }

    /// Reads the configuration. Blocks.
    ///
    /// - Throws: All problems, as in ``read()``.
    func load() throws(ConfigurationErrors) -> Configuration { try read().checked() }

    /// Reads the configuration and its problems. Blocks.
    ///
    /// A file that is not TOML or that others may write is not used at all. The rules are then not read, because the
    /// file may specify their directory.
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

    /// Checks that other users cannot write the file. A user that can write it could make the daemon run any program
    /// and listen anywhere.
    private static func check(_ file: String) throws(ConfigurationErrors) {
        var status = stat()
        // The program that starts the daemon may pass a pipe.
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        do throws(FileTrust.Doubt) { try FileTrust.check(file) } catch {
            throw ConfigurationErrors(problems: [ConfigurationProblem(source: file, reason: error.description)])
        }
    }

    /// Returns the defaults overridden by flags only, without the file.
    func withoutFile() -> ConfigurationReading {
        defaults.overlaid(by: nil, overrides, workingDirectory: environment.workingDirectory)
    }

    /// Reads the named file or the default one; returns `nil` if the default file does not exist.
    private func readDocument() throws(TOMLError) -> TOMLDocument? {
        if let file { return try TOMLDocument(contentsOf: file) }
        do {
            return try TOMLDocument(contentsOf: environment.defaultConfigurationFile)
        } catch  where error.isAbsentFile {
            return nil
        }
    }
}
