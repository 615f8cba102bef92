import ArgumentParser
import BridgeJSON
import OfflinePackages

/// `trestle package make`
struct MakePackageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Makes a signed package of a folder.",
        discussion: """
            The folder contains manifest.json, with at least id and version, and a folder named files with the files \
            of the application. Hashes, lengths and media types are added to the manifest; a media type that the \
            manifest contains is not changed. Symbolic links are refused. The same folder and key always give the same \
            bytes.

            EXAMPLES
              trestle package make notes --key notes.key
              trestle package make notes --key notes.key --output notes.tar.zst --force
              trestle package make notes --key notes.key --in-place
            """)

    @Argument(help: "The folder with manifest.json and files.", completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("The file with the secret key that signs.", valueName: "file"), completion: .file())
    var key: String

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The file to write; without it ID-VERSION.tar.zst. - is standard output.", valueName: "file")
    )
    var output: String?

    @Flag(help: "Make the folder itself a package: write manifest and signature into it.")
    var inPlace = false

    @Flag(help: "Replace a file that exists.")
    var force = false

    @OptionGroup var form: OutputForm

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("--in-place and --output exclude each other") }
    }

    func run() async throws {
        try PackageRun.reporting(form) {
            let key = try PackageRun.key(in: key)
            let maker = try PackageMaker(folder)
            let head = maker.manifest.head
            let path: String
            if inPlace {
                try maker.signFolder(by: key)
                path = folder
            } else {
                path = output ?? "\(head.id)-\(head.version).tar.zst"
                if path == "-", Screen.output.isTerminal {
                    throw UsageFailure("a package is not written to a terminal: name a file, or redirect the output")
                }
                let file = try OutputFile(path, overwrites: force, isShared: true)
                defer { file.discard() }
                try maker.writeArchive(signedBy: key) { try file.write(Array($0)) }
                try file.finish(overwrites: force)
                if file.isStandardOutput { return }
            }
            Screen.output.showing(form).show([
                "path": .string(path), "id": .string(head.id), "version": .string(head.version),
                "files": .number(JSONNumber(maker.manifest.files.count)),
                "bytes": .number(JSONNumber(maker.manifest.contentBytes)), "key": .string(key.publicKey.description),
            ])
        }
    }
}
