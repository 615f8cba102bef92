import ArgumentParser
import BridgeJSON

/// `--json` and `--text`: the form of the output, regardless of the kind of standard output.
struct OutputForm: ParsableArguments {
    @Flag(help: "Write lines of JSON, also on a terminal; errors as {\"error\":…}, except wrong usage.")
    var json = false

    @Flag(help: "Write text for people, also in a pipe.")
    var text = false

    /// The option's name before 1.0.
    @Option(help: .hidden)
    var format: String?

    func validate() throws {
        if format != nil { throw ValidationError("unknown option '--format'; use --json or --text") }
        if json, text { throw ValidationError("--json and --text exclude each other") }
    }

    /// Returns this form, given after the command's name, or else the one given before it.
    func or(_ other: OutputForm) -> OutputForm { json || text ? self : other }
}

extension Screen {
    /// Returns this screen with the selected form.
    func showing(_ form: OutputForm) -> Screen {
        var screen = self
        if form.json { screen.isForPeople = false }
        if form.text { screen.isForPeople = true }
        return screen
    }

    /// Shows a list as a table, or as one line of JSON for each entry.
    func show(list: [JSON], first columns: [String]) {
        if isForPeople {
            write(Table(list, first: columns).text(bold: hasColour, columns: self.columns))
        } else {
            for entry in list { write(line: entry) }
        }
    }

    /// Shows a large object as a report, or as one line of JSON.
    func show(report: JSON) {
        if isForPeople {
            write(Report.text(report, colour: hasColour, columns: columns))
        } else {
            write(line: report)
        }
    }
}
