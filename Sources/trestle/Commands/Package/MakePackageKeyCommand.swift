import ArgumentParser
import BridgeJSON
import OfflinePackages

/// `trestle package key`
struct MakePackageKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes a key pair that signs packages.",
        discussion: """
            Writes the secret key to FILE, which only its owner can read, and the public key to FILE.pub. The public \
            key goes into the setting package_keys of [plugins.fetch].

            EXAMPLES
              trestle package key notes.key
              trestle package key ~/.config/notes.key --force
            """)

    @Argument(help: "The file of the secret key.", completion: .file())
    var file: String

    @Flag(help: "Replace files that exist.")
    var force = false

    @OptionGroup var form: OutputForm

    func validate() throws {
        if file == "-" {
            throw ValidationError("the secret key and the public key are two files: name the file of the secret key")
        }
    }

    func run() async throws {
        try PackageRun.reporting(form) {
            let key = PackageSecretKey()
            let open = "\(file).pub"
            // Opens both files before it completes one of them, because one key without the other is useless.
            let secretFile = try OutputFile(file, overwrites: force)
            defer { secretFile.discard() }
            let openFile = try OutputFile(open, overwrites: force, isShared: true)
            defer { openFile.discard() }
            try secretFile.write(Array("\(key.text)\n".utf8))
            try openFile.write(Array("\(key.publicKey)\n".utf8))
            try secretFile.finish(overwrites: force)
            try openFile.finish(overwrites: force)
            Screen.output.showing(form).show([
                "path": .string(file), "publicPath": .string(open), "publicKey": .string(key.publicKey.description),
            ])
        }
    }
}
