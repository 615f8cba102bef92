/// How the daemon ends, for those who started it. The numbers are those of sysexits.h.
enum ExitStatus {
    /// Something on the way to listening failed.
    static let cannotStart: Int32 = 1
    /// The configuration is at fault (EX_CONFIG).
    static let badConfiguration: Int32 = 78
}
