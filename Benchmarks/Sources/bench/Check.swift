/// Compares the measured figures with the limits.
enum Check {
    /// Returns each limit in a line: the figure, the limit, and whether the figure is within it.
    static func report(_ lines: [Line]) -> (text: String, isPassed: Bool) {
        let findings = lines.compactMap(\.finding).filter { $0.bound != nil }
        let width = findings.map(\.what.count).max() ?? 0
        let texts = findings.map { finding in
            let room = String(repeating: " ", count: width - finding.what.count)
            return "\(finding.isWithin ? "OK  " : "PAST")  \(finding.what)\(room)  \(finding.valueText)"
                + "  (\(finding.boundText))"
        }
        let past = findings.count { !$0.isWithin }
        let summary = past == 0 ? "All \(findings.count) limits hold." : "\(past) of \(findings.count) limits do not."
        return ((texts + [summary]).joined(separator: "\n"), past == 0)
    }
}
