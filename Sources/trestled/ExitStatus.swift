/// The exit statuses of the daemon. The numbers are those of sysexits.h.
enum ExitStatus {
    /// The launch failed.
    static let cannotStart: Int32 = 1
    /// The configuration is invalid (EX_CONFIG).
    static let badConfiguration: Int32 = 78
}
