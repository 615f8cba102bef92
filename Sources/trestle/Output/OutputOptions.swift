import ArgumentParser
import BridgeJSON

/// In which form a result is written.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// Tables and reports for people, whole where nobody says how wide they may be.
    case table
    /// One line of JSON for each object.
    case json
}

/// `--format`: the form of the output, whatever standard output is.
struct OutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "table for people, json for programs; without it, table on a terminal and json in a pipe.",
            valueName: "format"))
    var format: OutputFormat?

    /// The form for a screen.
    func format(on screen: Screen) -> OutputFormat { format ?? (screen.isTerminal ? .table : .json) }
}

extension Screen {
    /// A list: a table, or one line of JSON for each entry.
    func show(list: [JSON], first columns: [String], as format: OutputFormat) {
        switch format {
        case .table: write(Table(list, first: columns).text(bold: hasColour, columns: self.columns))
        case .json: for entry in list { write(line: entry) }
        }
    }

    /// An object with much in it: a report, or one line of JSON.
    func show(report: JSON, as format: OutputFormat? = nil) {
        switch format ?? (isTerminal ? .table : .json) {
        case .table: write(Report.text(report, colour: hasColour, columns: columns))
        case .json: write(line: report)
        }
    }
}
