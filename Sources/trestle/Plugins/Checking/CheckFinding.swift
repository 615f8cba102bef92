import BridgeJSON
import EventLoop

/// The result of one check of a plugin.
struct CheckFinding: Sendable, Equatable {
    enum Outcome: String, Sendable {
        case passed
        case failed
        case skipped
    }

    /// The process in which the plugin ran, by the name of the setting `isolation`.
    enum Isolation: String, Sendable {
        /// Its own process.
        case isolated = "process"
        /// The daemon's process.
        case inProcess = "none"
    }

    var isolation: Isolation
    /// The task that was checked; `nil` for the plugin as a whole.
    var task: String?
    /// The check's name: `load`, `options`, `call`, `once`, `result`, `progress`, `cancel`, `deadline`, `leak`,
    /// `blocking`, `crash`, `output`, `stop`, `restart`.
    var check: String
    var outcome: Outcome
    /// The finding: what was sent and what was received, as one sentence.
    var message: String

    /// The finding as a line for programs.
    var json: JSON {
        [
            "isolation": .string(isolation.rawValue), "task": task.map(JSON.string) ?? .null, "check": .string(check),
            "outcome": .string(outcome.rawValue), "message": .string(message),
        ]
    }

    /// Returns the finding as a line for people.
    func line(bold: (String) -> String) -> String {
        let about = task.map { "\(PlainText.line($0)) " } ?? ""
        return "\(outcome.rawValue)  \(bold(about + check)): \(PlainText.line(message))"
    }
}

/// Writes findings immediately and counts them.
@LoopActor
final class CheckReport {
    let writesJSON: Bool
    private(set) var failed = 0
    private var passed = 0
    private var skipped = 0
    private var isolation: CheckFinding.Isolation?

    init(writesJSON: Bool) { self.writesJSON = writesJSON }

    func take(_ finding: CheckFinding) {
        switch finding.outcome {
        case .passed: passed += 1
        case .failed: failed += 1
        case .skipped: skipped += 1
        }
        guard !writesJSON else { return Screen.output.write(line: finding.json) }
        if isolation != finding.isolation {
            isolation = finding.isolation
            let title = finding.isolation == .isolated ? "In a process of its own" : "In the daemon's process"
            Screen.output.write("\(Screen.output.bold(title))\n")
        }
        Screen.output.write("  \(finding.line(bold: Screen.output.bold))\n")
    }

    func finish() {
        (writesJSON ? Screen.error : Screen.output).write(
            "check: \(passed) passed, \(failed) failed, \(skipped) skipped\n")
    }
}
