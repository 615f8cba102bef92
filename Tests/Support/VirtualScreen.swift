import Glibc

/// A virtual X11 screen for one test.
public final class VirtualScreen {
    private static let program = "/usr/bin/Xvfb"
    private let process: SpawnedProcess
    /// The value of `$DISPLAY`.
    public let display: String

    /// Whether this machine has the required program.
    public static var isPossible: Bool { exists(program) }

    /// Starts the X server and waits until it is ready.
    ///
    /// - Parameter size: The width and height in pixels.
    public init(_ size: (width: Int, height: Int) = (800, 600)) throws {
        let ends = try connectedPair()
        defer {
            close(ends.ours)
            close(ends.theirs)
        }
        // The server writes the number of the new screen when it is ready.
        process = try SpawnedProcess(
            Self.program,
            // Without -noreset the server resets when its last client disconnects, and refuses the next client
            // meanwhile.
            ["-displayfd", "1", "-screen", "0", "\(size.width)x\(size.height)x24", "-nolisten", "tcp", "-noreset"],
            output: .descriptor(ends.theirs))
        guard let number = try SocketLineReader(ends.ours).line() else { throw TestFailure("Xvfb says nothing") }
        display = ":\(String(decoding: number, as: UTF8.self))"
    }

    /// The environment variable for programs on this screen.
    public var environment: [String] { ["DISPLAY=\(display)"] }
}
