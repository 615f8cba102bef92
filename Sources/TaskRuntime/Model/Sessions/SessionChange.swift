/// A change of a session, as reported to plugins.
public enum SessionChange: UInt32, Sendable {
    /// It has connected.
    case opened = 0
    /// It has disconnected.
    case closed = 1
    /// Its page went to the background.
    case background = 2
    /// Its page came to the foreground.
    case foreground = 3
}
