import ArgumentParser
import BridgeJSON

/// `--json` and `--text`: the form of the output, whatever standard output is.
struct OutputForm: ParsableArguments {
    @Flag(help: "Lines of JSON, on a terminal too; errors as {\"error\":…}.")
    var json = false

    @Flag(help: "Text for people, in a pipe too.")
    var text = false

    /// What it was called before 1.0.
    @Option(help: .hidden)
    var format: String?

    func validate() throws {
        if format != nil { throw ValidationError("--format is called --json and --text now") }
        if json, text { throw ValidationError("--json and --text exclude each other") }
    }

    /// With what was given before the command's name, where nothing is given behind it.
    func or(_ other: OutputForm) -> OutputForm { json || text ? self : other }
}

extension Screen {
    /// The same, in the form that was asked for.
    func showing(_ form: OutputForm) -> Screen {
        var screen = self
        if form.json { screen.isForPeople = false }
        if form.text { screen.isForPeople = true }
        return screen
    }

    /// A list: a table, or one line of JSON for each entry.
    func show(list: [JSON], first columns: [String]) {
        if isForPeople {
            write(Table(list, first: columns).text(bold: hasColour, columns: self.columns))
        } else {
            for entry in list { write(line: entry) }
        }
    }

    /// An object with much in it: a report, or one line of JSON.
    func show(report: JSON) {
        if isForPeople {
            write(Report.text(report, colour: hasColour, columns: columns))
        } else {
            write(line: report)
        }
    }
}
