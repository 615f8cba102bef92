import Glibc

/// A screen of X11 that nobody sees, for one test.
public final class VirtualScreen {
    private static let program = "/usr/bin/Xvfb"
    private let process: SpawnedProcess
    /// What `$DISPLAY` says.
    public let display: String

    /// Whether this machine can have one.
    public static var isPossible: Bool { exists(program) }

    /// Starts it, and waits until it can be drawn on.
    ///
    /// - Parameter size: Its width and height in pixels.
    public init(_ size: (width: Int, height: Int) = (800, 600)) throws {
        let ends = try connectedPair()
        defer {
            close(ends.ours)
            close(ends.theirs)
        }
        // It writes the number of the screen, which nobody else had, once that can be drawn on.
        process = try SpawnedProcess(
            Self.program,
            // Without -noreset it begins anew when its last client goes, and refuses the next one meanwhile.
            ["-displayfd", "1", "-screen", "0", "\(size.width)x\(size.height)x24", "-nolisten", "tcp", "-noreset"],
            output: .descriptor(ends.theirs))
        guard let number = try SocketLineReader(ends.ours).line() else { throw TestFailure("Xvfb says nothing") }
        display = ":\(String(decoding: number, as: UTF8.self))"
    }

    /// Shows a program where it is.
    public var environment: [String] { ["DISPLAY=\(display)"] }
}
