import BridgeJSON
import TestSupport
import Testing

/// Checks a plugin. Returns the failures in their order, each as "TASK CHECK" or "CHECK".
func checkFailures(_ path: String, _ arguments: String...) throws -> (names: [String], run: ProgramRun) {
    let check = try run(
        Paths.program("trestle"), ["plugin", "check", path, "--timeout", "500ms"] + arguments)
    let lines = try check.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    let failed = lines.filter { $0["outcome"] == "failed" }
    for line in failed { #expect((line["message"]?.stringValue ?? "").count > 20, "\(line)") }
    let names = failed.map { line in
        [line["task"]?.stringValue, line["check"]?.stringValue].compactMap { $0 }.joined(separator: " ")
    }
    #expect(check.end == .exited(names.isEmpty ? 0 : 1), "\(check.output)\(check.errors)")
    return (names, check)
}
