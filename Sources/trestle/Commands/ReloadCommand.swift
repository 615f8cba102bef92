import ArgumentParser
import BridgeClient
import BridgeJSON

/// `trestle config reload`
struct ReloadCommand: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Makes the daemon read its configuration again, without a restart.",
        discussion: """
            Shows which changed settings take effect immediately, and which after a restart. If there is any error, \
            every error is shown with its position, and nothing changes. SIGHUP does the same.

            EXAMPLES
              trestle config reload
              trestle config reload | jq -r '.restart[]'
            """)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws { try await reloadConfiguration() }
}

extension BridgeCommand {
    fileprivate func reloadConfiguration() async throws {
        try await withClient { client in
            do throws(BridgeError) {
                showReload(try await client.callJSON("bridge.reload"))
            } catch {
                // As JSON, the error is shown with all its data.
                guard !options.form.json, let problems = error.data?["problems"]?.arrayValue, !problems.isEmpty else {
                    throw error
                }
                for problem in problems { Failure.complain(ReloadText.line(problem)) }
                Failure.complain("the daemon continues as before (\(error.code))")
                throw Failure.exitCode(error)
            }
        }
    }

    private func showReload(_ result: JSON) {
        if screen.isForPeople {
            screen.write(ReloadText.report(result))
        } else {
            screen.write(line: result)
        }
        for warning in result["warnings"]?.arrayValue ?? [] {
            Failure.complain("warning: \(ReloadText.line(warning))")
        }
    }
}

/// `trestle reload`: the former name of `trestle config reload`.
struct ReloadAlias: BridgeCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: ReloadCommand.configuration.abstract,
        discussion: ReloadCommand.configuration.discussion, shouldDisplay: false)

    @OptionGroup var common: CommonOptions
    @ParentCommand var root: Trestle

    func run() async throws { try await reloadConfiguration() }
}

/// The text of a reload's result.
enum ReloadText {
    /// Returns a line for the file and one for each kind of change.
    static func report(_ result: JSON) -> String {
        let file = result["file"]?.stringValue ?? "no file, the defaults apply"
        let applied = names(result["applied"])
        let restart = names(result["restart"])
        var lines = ["read: \(file)"]
        if !applied.isEmpty { lines.append("applied: \(applied)") }
        if !restart.isEmpty { lines.append("after a restart: \(restart)") }
        if applied.isEmpty, restart.isEmpty { lines.append("nothing has changed") }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }

    /// Returns `file:line:column: key: reason`, as in the daemon's log.
    static func line(_ problem: JSON) -> String {
        var parts = [problem["file"]?.stringValue ?? ""]
        if let line = problem["line"]?.int64Value, let column = problem["column"]?.int64Value {
            parts[0] += ":\(line):\(column)"
        }
        if let key = problem["key"]?.stringValue { parts.append(key) }
        parts.append(problem["reason"]?.stringValue ?? "")
        return parts.joined(separator: ": ")
    }

    private static func names(_ list: JSON?) -> String {
        (list?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
    }
}
