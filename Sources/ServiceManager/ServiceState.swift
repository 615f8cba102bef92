import Glibc

/// Something that a service reports to its manager.
public enum ServiceState: Sendable, Equatable {
    /// It serves: after its launch, and again after a reload.
    case ready
    /// It reloads its configuration; ``ready`` follows. The message says when that began, by CLOCK_MONOTONIC.
    case reloading
    /// It is about to end.
    case stopping
    /// How it is, in one line for a person.
    case status(String)
    /// It is alive. To be said at least once in each interval of the watchdog.
    case watchdog
    /// What it is doing, starting or stopping, may take as long from now on.
    case extendTimeout(Duration)

    /// The longest status that is sent, in bytes: the manager throws away whole messages of more than 4,096.
    static let statusBytes = 1_024

    /// The state as it stands in a message.
    var text: String {
        switch self {
        case .ready: "READY=1"
        case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(Self.monotonicMicroseconds)"
        case .stopping: "STOPPING=1"
        case .status(let text): "STATUS=\(Self.oneLine(text))"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(Self.microseconds(duration))"
        }
    }

    /// A line feed would end the value and begin another: control characters become spaces. What is too long is cut.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        var bytes = 0
        for scalar in text.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= statusBytes else { break }
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
        }
        return line
    }

    private static var monotonicMicroseconds: UInt64 {
        var time = timespec()
        // Cannot fail: the clock exists and the address is ours.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }

    /// Whole microseconds; 0 for a negative duration, and what 64 bits hold for one that is longer.
    private static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return isOver ? .max : whole + UInt64(attoseconds / 1_000_000_000_000)
    }
}
