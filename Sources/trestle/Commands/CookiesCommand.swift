import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle cookies`
struct CookiesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cookies",
        abstract: "Lists, imports, exports and removes the cookies of the user.",
        discussion: """
            Manages the cookies that the plugin Cookies stores for pages, programs and requests. --profile selects a \
            set of cookies other than default. An export requires the permission cookies.secrets.

            EXAMPLES
              trestle cookies list --domain example.org
              trestle cookies import cookies.txt
              trestle cookies export cookies.txt
              trestle cookies clear --domain example.org
            """,
        subcommands: [List.self, Import.self, Export.self, Clear.self])

    /// `trestle cookies list`
    struct List: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists cookies, without their values.",
            discussion: """
                EXAMPLES
                  trestle cookies list
                  trestle cookies list --url https://example.org/cart --values
                  trestle cookies list --domain example.org | jq -r .name
                """,
            aliases: ["ls"])

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var choice: CookieChoice
        @Flag(help: "Show the values. Those of HttpOnly cookies require the permission cookies.secrets.")
        var values = false

        func run() async throws {
            try await withCookies { client in
                let cookies = try await ListedCookies.all(choice.options, client)
                let rows = cookies.map { cookie in
                    screen.isForPeople
                        ? ListedCookies.row(cookie, showsValue: values)
                        : ListedCookies.line(cookie, showsValue: values)
                }
                screen.show(list: rows, first: ["domain", "path", "name", "value"])
            }
        }
    }

    /// `trestle cookies import`
    struct Import: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sets the cookies of a file.",
            discussion: """
                The result contains the number of cookies that were set, and the lines that are not valid cookies. \
                Cookies with the same name, domain and path are replaced.

                EXAMPLES
                  trestle cookies import cookies.txt
                  ssh elsewhere trestle cookies export --file-format json | trestle cookies import --file-format json
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var profile: CookieProfile
        @Argument(help: "The file. Without it, or with -: standard input.", completion: .file()) var file = "-"
        @Option(help: ArgumentHelp("The format of the file.", valueName: "format")) var fileFormat = CookieFileFormat
            .netscape

        func run() async throws {
            var options = profile.options
            options["format"] = .string(fileFormat.rawValue)
            options["stream"] = .string("@\(file)")
            let request = JSON.object(options)
            try await withCookies { client in
                let line = ProgressLine()
                defer { line.end() }
                let files = try await SentFiles(in: request, at: [["stream"]], client)
                try await files.send(line) { request in
                    let result = try await client.callJSON("cookies.import", request)
                    line.end()
                    screen.show(report: result)
                }
            }
        }
    }

    /// `trestle cookies export`
    struct Export: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes cookies and their values to a file.",
            discussion: """
                Requires the permission cookies.secrets, which root and the daemon's user have. The file appears only \
                when it is complete, and only its owner can read it. The format netscape is the format of curl and \
                wget. It cannot contain partitioned cookies and cookies with a tab; comments in the file name them.

                EXAMPLES
                  trestle cookies export cookies.txt
                  trestle cookies export | curl --cookie /dev/stdin https://example.org/
                  trestle cookies export --file-format json --domain example.org | jq .
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var profile: CookieProfile
        @Option(help: ArgumentHelp("Only the cookies of this domain and the names below it.", valueName: "host"))
        var domain: String?
        @Argument(help: "The file to write. Without it, or with -: standard output.", completion: .file()) var file =
            "-"
        @Option(help: ArgumentHelp("The format of the file.", valueName: "format")) var fileFormat = CookieFileFormat
            .netscape
        @Flag(help: "With netscape: write SameSite in an eighth column, which curl does not read.")
        var sameSite = false
        @Flag(help: "Replace a file that exists.") var force = false

        func run() async throws {
            var options = profile.options
            options["format"] = .string(fileFormat.rawValue)
            options["domain"] = domain.map(JSON.string)
            if sameSite { options["sameSite"] = true }
            options["stream"] = true
            let request = JSON.object(options)
            try await withCookies { client in
                let line = ProgressLine()
                defer { line.end() }
                let output = try OutputFile(file, overwrites: force)
                defer { output.discard() }
                let result = try await client.callJSON("cookies.export", request)
                let stream = result["stream"]?.stringValue ?? ""
                try await ReceivedStream.write(
                    await client.readStream(stream), to: output, StreamProgress(line, name: ""))
                try output.finish(overwrites: force)
            }
        }
    }

    /// `trestle cookies clear`
    struct Clear: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Removes cookies.",
            discussion: """
                On a terminal, the command shows the number of cookies and asks for confirmation.

                EXAMPLES
                  trestle cookies clear --domain example.org
                  trestle cookies clear --all --yes
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var choice: CookieChoice
        @Flag(help: "All cookies of the profile.") var all = false
        @Flag(help: "Do not ask.") var yes = false

        func validate() throws {
            if all, choice.url != nil || choice.domain != nil {
                throw ValidationError("--all excludes --url and --domain")
            }
            guard all || choice.url != nil || choice.domain != nil || choice.name != nil else {
                throw ValidationError("specify the cookies with --domain, --url or --name, or use --all")
            }
        }

        func run() async throws {
            var options = choice.options
            if choice.url == nil, choice.domain == nil { options["all"] = true }
            let request = JSON.object(options)
            try await withCookies { client in
                if !yes, StandardInput.isTerminal {
                    let count = try await ListedCookies.all(choice.options, client).count
                    guard count > 0 else { return show(removed: 0) }
                    let question = "Remove \(count) \(count == 1 ? "cookie" : "cookies")?"
                    guard try await Confirmation.ask(question) else { return News.note("nothing was removed") }
                }
                do {
                    let result = try await client.callJSON("cookies.delete", request)
                    show(removed: result["removed"]?.int64Value ?? 0)
                } catch let error as BridgeError where error.code == "cookie.not_found" {
                    show(removed: 0)
                }
            }
        }

        private func show(removed: Int64) { screen.show(report: ["removed": .number(JSONNumber(removed))]) }
    }
}

extension BridgeCommand {
    /// Connects as `withClient` does; explains the error if the daemon does not have the plugin.
    fileprivate func withCookies(_ body: @escaping @Sendable (Bridge) async throws -> Void) async throws {
        try await withClient { client in
            do {
                try await body(client)
            } catch let error as BridgeError where error.code == .taskNotFound {
                throw MissingPlugin.error("cookies", that: "keeps cookies", error)
            }
        }
    }
}
