/// What happens to a session, as plugins see it.
public enum SessionChange: UInt32, Sendable {
    /// It has connected.
    case opened = 0
    /// It has gone.
    case closed = 1
    /// Its page went to the background.
    case background = 2
    /// Its page came to the foreground.
    case foreground = 3
}
