/// The exit statuses of the daemon. 78 is EX_CONFIG of sysexits.h.
enum ExitStatus {
    /// The launch failed.
    static let cannotStart: Int32 = 1
    /// The output of a check or of a printed configuration cannot be written.
    static let cannotAnswer: Int32 = 1
    /// The configuration is invalid (EX_CONFIG).
    static let badConfiguration: Int32 = 78
}
