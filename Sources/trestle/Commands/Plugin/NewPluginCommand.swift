import ArgumentParser

/// `trestle plugin new`
struct NewPluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Creates the folder of a new plugin, with a test.",
        discussion: """
            The plugin has one task with the plugin's name, which returns a greeting. README.md in the folder contains \
            the commands that build, test, check and run it. Existing files are not overwritten.

            EXAMPLES
              trestle plugin new scanner
              trestle plugin new scanner --language python --directory /tmp/scanner
              trestle plugin new scanner --trestle https://example.org/trestle.git
            """)

    @Argument(help: "The plugin's name: letters a-z, digits, - and _, beginning with a letter.")
    var name: String

    @Option(help: ArgumentHelp("swift, c, python or sh.", valueName: "language"))
    var language = PluginLanguage.swift

    @Option(help: ArgumentHelp("The folder to write; without it ./NAME.", valueName: "path"))
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "For Swift: the folder or the URL of Trestle's package.",
            discussion: """
                Without it: the checkout in which this program was built, or else the package that is installed with \
                it, which contains TaskKit but no test kit.
                """,
            valueName: "path | url"))
    var trestle: String?

    func validate() throws {
        try PluginName(name).check(for: language)
    }

    func run() async throws {
        let name = try PluginName(self.name)
        let paths = try TrestlePaths.find(package: trestle)
        try paths.check(for: language)
        let template = PluginTemplate(name: name, paths: paths)
        let folder = directory ?? name.text
        let files = template.files(language)
        do {
            try NewFolder.write(files, to: folder)
        } catch let failure as FileFailure {
            throw Failure.report(failure)
        }
        show(files, folder, template)
    }

    private func show(_ files: [PluginTemplate.File], _ folder: String, _ template: PluginTemplate) {
        guard Screen.output.isTerminal else {
            for file in files { Screen.output.write("\(folder)/\(file.path)\n") }
            return
        }
        for file in files { Screen.output.write("wrote \(folder)/\(file.path)\n") }
        Screen.output.write("\nNow:\n  cd \(template.shell(folder))\n")
        for (command, meaning) in template.commands(language) {
            Screen.output.write("  \(command)\n      \(meaning)\n")
        }
    }
}
