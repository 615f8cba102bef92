import ArgumentParser
import BridgeJSON
import OfflinePackages

/// `trestle package check`
struct CheckPackageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a package: its form, its signature, and each of its files.",
        discussion: """
            Without --key, any key is accepted; the result contains the key.

            EXAMPLES
              trestle package check notes-1.0.tar.zst
              trestle package check notes-1.0.tar.zst --key "$(cat notes.key.pub)"
              trestle package check notes --json

            EXIT STATUS
              0  the package is good   1  it is not
            """)

    @Argument(help: "The package: a file, or a folder.", completion: .file())
    var package: String

    @Option(help: ArgumentHelp("A public key that is accepted. May be repeated.", valueName: "key"))
    var key: [String] = []

    @OptionGroup var form: OutputForm

    func validate() throws {
        for text in key where PackageKey(text) == nil {
            throw ValidationError("--key is not a public key, such as ed25519:… in base 64")
        }
    }

    func run() async throws {
        try PackageRun.reporting(form) {
            let keys = key.compactMap { PackageKey($0) }
            let report = try PackageFile.check(package, keys: keys.isEmpty ? nil : keys)
            let manifest = report.manifest
            var shown: JSONObject = ["id": .string(manifest.head.id), "version": .string(manifest.head.version)]
            shown["base"] = manifest.head.base.map { .string($0) }
            shown["network"] = manifest.head.network.map { .string($0) }
            shown["files"] = .number(JSONNumber(manifest.files.count))
            shown["bytes"] = .number(JSONNumber(manifest.contentBytes))
            shown["key"] = .string(report.key.description)
            Screen.output.showing(form).show(.object(shown))
        }
    }
}
