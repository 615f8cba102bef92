import Glibc

/// A state that a service reports to its manager.
public enum ServiceState: Sendable, Equatable {
    /// The service is ready: after its launch, and again after a reload.
    case ready
    /// The service reloads its configuration; ``ready`` follows. The message contains the start time by
    /// CLOCK_MONOTONIC.
    case reloading
    /// The service is stopping.
    case stopping
    /// The status of the service, as one line of text.
    case status(String)
    /// The service is alive. Must be sent at least once in each interval of the watchdog.
    case watchdog
    /// The current start or stop may take this much longer from now on.
    case extendTimeout(Duration)

    /// The maximum size of a status in bytes. The manager discards whole messages of more than 4,096 bytes.
    static let statusBytes = 1_024

    /// The text of the state in a message.
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

    /// Replaces control characters by spaces, because a line feed would begin another value. Cuts a text that is too
    /// long.
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
        // Cannot fail: the clock exists and the address is valid.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }

    /// Returns whole microseconds; 0 for a negative duration and `UInt64.max` for one that is too long.
    private static func microseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, isOver) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return isOver ? .max : whole + UInt64(attoseconds / 1_000_000_000_000)
    }
}
