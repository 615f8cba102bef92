import ArgumentParser
import BridgeClient
import BridgeJSON
import Sodium

/// `trestle store`
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Backs up, restores, exports and imports the records of the persistence plugin.",
        discussion: """
            Uses the socket of a running daemon, and requires the permission store.copy, which root and the daemon's \
            user have. A backup is the whole store, as a database. An export contains records, as lines of JSON.

            EXAMPLES
              trestle store backup /backup/records.sqlite
              trestle store restore /backup/records.sqlite
              trestle store export --table notes notes.jsonl
              trestle store export | ssh elsewhere trestle store import --if-exists skip
            """,
        subcommands: [Backup.self, Restore.self, Export.self, Import.self])

    /// `trestle store backup`
    struct Backup: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes a copy of the whole store to a file.",
            discussion: """
                The copy is a snapshot and is checked; calls continue meanwhile. The file appears only when it is \
                complete, and only its owner can read it.

                EXAMPLES
                  trestle store backup /backup/records.sqlite
                  trestle store backup --force /backup/latest.sqlite
                  trestle store backup - | gzip > records.sqlite.gz
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @Argument(help: "The file to write; - is standard output.") var file: String
        @Flag(help: "Replace a file that exists.") var force = false

        func run() async throws {
            if file == "-", Screen.output.isTerminal {
                throw UsageFailure("a backup is not written to a terminal: name a file, or redirect the output")
            }
            try await receive("persistence.backup", options: [:], to: file, overwrites: force)
        }
    }

    /// `trestle store restore`
    struct Restore: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replaces the store by a backup.",
            discussion: """
                All stored records are replaced. The backup is checked before anything changes. The previous database \
                is kept beside the new one, and the result contains its path.

                EXAMPLES
                  trestle store restore /backup/records.sqlite
                  gunzip < records.sqlite.gz | trestle store restore -
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @Argument(help: "The backup; - is standard input.") var file: String

        func run() async throws {
            try await send(file, [:]) { client, options, progress in
                try await progress.waiting(for: "the daemon receives and checks the backup …") {
                    try await client.callJSON("persistence.restore", options)
                }
            }
        }
    }

    /// `trestle store export`
    struct Export: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the records of one moment as lines of JSON.",
            discussion: """
                The first line identifies the file, and the last contains the number of records. Each line between is \
                {"namespace", "table", "key", "version", "record"}, in a stable order.

                EXAMPLES
                  trestle store export all.jsonl
                  trestle store export --namespace 1000:local --table notes | jq -c 'select(.key) | .record'
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var selection: SelectionOptions
        @Argument(help: "The file to write. Without it, or with -: standard output.") var file = "-"
        @Flag(help: "Replace a file that exists.") var force = false

        func run() async throws {
            try await receive(
                "persistence.export", options: selection.options, to: file, overwrites: force)
        }
    }

    /// `trestle store import`
    struct Import: BridgeCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stores the records of an export.",
            discussion: """
                The whole file is checked first: an error names its line, and nothing is stored. The records get new \
                versions. An interrupted import can be repeated with --if-exists skip.

                EXAMPLES
                  trestle store import --dry-run all.jsonl
                  trestle store import --if-exists skip all.jsonl
                  trestle store import --table notes --if-exists replace < all.jsonl
                """)

        @OptionGroup var common: CommonOptions
        @ParentCommand var root: Trestle
        @OptionGroup var selection: SelectionOptions
        @Argument(help: "The export. Without it, or with -: standard input.") var file = "-"
        @Option(help: ArgumentHelp("What to do with a record whose key exists already.", valueName: "action"))
        var ifExists = IfExists.fail
        @Flag(help: "Store nothing; show what the import would do with the records.") var dryRun = false

        enum IfExists: String, ExpressibleByArgument, CaseIterable, Sendable { case skip, replace, fail }

        func run() async throws {
            var options = selection.options
            options["ifExists"] = .string(ifExists.rawValue)
            options["dryRun"] = .bool(dryRun)
            try await send(file, options) { client, options, line in
                let call = try await client.callJSONWithProgress("persistence.import", options)
                return try await line.waiting(for: "the daemon receives and checks the export …") {
                    for await progress in call {
                        line.show(
                            "\(progress["records"]?.text ?? "?") of \(progress["of"]?.text ?? "?") records are stored")
                    }
                    return try await call.result
                }
            }
        }
    }
}

/// The selection of records.
struct SelectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only the records of this namespace, such as 1000:local.", valueName: "uid:origin"))
    var namespace: String?

    @Option(help: ArgumentHelp("Only the records of the tables of this name.", valueName: "name"))
    var table: String?

    var options: JSONObject {
        var options = JSONObject()
        options["namespace"] = namespace.map(JSON.string)
        options["table"] = table.map(JSON.string)
        return options
    }
}

/// An error: the daemon's copy is incomplete, or its answer is not understood.
private struct CopyFailure: LocalFailure {
    static let code: ErrorCode = "backup.invalid"

    let description: String
}

extension BridgeCommand {
    /// Sends a file with a call and shows the result.
    ///
    /// - Parameter call: Makes the call with the options, which contain the file's stream.
    fileprivate func send(
        _ path: String, _ options: JSONObject,
        _ call: @escaping @Sendable (Bridge, JSON, ProgressLine) async throws -> JSON
    ) async throws {
        var options = options
        options["stream"] = .string("@\(path)")
        let json = JSON.object(options)
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let files = try await SentFiles(in: json, at: [["stream"]], client)
            try await files.send(line) { options in
                let result = try await call(client, options, line)
                line.end()
                screen.show(report: result)
            }
        }
    }

    /// Requests a copy from the daemon and writes it to a file.
    fileprivate func receive(
        _ task: String, options: JSONObject, to path: String, overwrites: Bool
    ) async throws {
        try await withClient { client in
            let line = ProgressLine()
            defer { line.end() }
            let file = try OutputFile(path, overwrites: overwrites)
            defer { file.discard() }
            let copy = try await line.waiting(for: "the daemon makes the copy …") {
                try await client.callJSON(task, .object(options))
            }
            try await write(copy, to: file, client, line)
            try file.finish(overwrites: overwrites)
            line.end()
            if file.isStandardOutput { return }
            var result: JSONObject = ["file": .string(path)]
            for name in ["bytes", "sha256", "records"] { result[name] = copy[name] }
            screen.show(report: .object(result))
        }
    }

    /// Writes a copy of the daemon to a file and checks its hash.
    private func write(_ copy: JSON, to file: OutputFile, _ client: Bridge, _ line: ProgressLine) async throws {
        guard let name = copy["stream"]?.stringValue else {
            throw CopyFailure(description: "the daemon's answer is not understood: \(copy.text)")
        }
        var hash = SHA256()
        try await ReceivedStream.write(await client.readStream(name), to: file, StreamProgress(line, name: "")) {
            $0.withUnsafeBytes { hash.update($0) }
        }
        guard copy["sha256"] == .string(hash.finish()) else {
            throw CopyFailure(description: "the received copy differs from the daemon's: its SHA-256 does not match")
        }
    }
}
