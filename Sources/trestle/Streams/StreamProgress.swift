/// The progress of a stream: bytes, rate, and the remaining time. Shown only on a terminal, after a second.
final class StreamProgress: Sendable {
    private let line: ProgressLine
    private let name: String
    private let began = ContinuousClock.now

    init(_ line: ProgressLine, name: String) {
        self.line = line
        self.name = name
    }

    /// Shows the progress.
    ///
    /// - Parameter total: The total number of bytes; `nil` if it is unknown.
    func show(_ bytes: Int, of total: Int?) { line.show(text(bytes, of: total, after: ContinuousClock.now - began)) }

    private func text(_ bytes: Int, of total: Int?, after time: Duration) -> String {
        Self.text(name, bytes, of: total, after: time)
    }

    /// Formats the progress: "photo: 12 MiB of 64 MiB, 8 MiB/s, 7 s left".
    static func text(_ name: String, _ bytes: Int, of total: Int?, after time: Duration) -> String {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = seconds > 0 ? Double(bytes) / seconds : 0
        var parts = ["\(ByteCount.text(Int64(bytes)))" + (total.map { " of \(ByteCount.text(Int64($0)))" } ?? "")]
        parts.append("\(ByteCount.text(Int64(rate)))/s")
        if let total, rate > 0, total > bytes {
            parts.append("\(HumanDuration.text(.seconds(Int64(Double(total - bytes) / rate)))) left")
        }
        return (name.isEmpty ? "" : "\(name): ") + parts.joined(separator: ", ")
    }
}
