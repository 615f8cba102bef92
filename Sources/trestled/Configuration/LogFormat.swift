import Glibc

/// The form of the log.
enum LogFormat: String, CaseIterable, Sendable {
    /// ``journal`` if standard error is the journal, else ``text``.
    case auto
    /// Lines for people.
    case text
    /// A JSON object in each line.
    case json
    /// Entries of the systemd journal.
    case journal

    /// Returns the form to use, which is never ``auto``.
    ///
    /// - Parameter environment: The environment of the process.
    func resolved(_ environment: ConfigurationEnvironment) -> LogFormat {
        guard self == .auto else { return self }
        return Self.isJournal(environment.variables["JOURNAL_STREAM"]) ? .journal : .text
    }

    /// Returns whether standard error is the journal stream that systemd names by device and inode. The variable alone
    /// is not sufficient: the program that started this process may have inherited it and redirected standard error.
    static func isJournal(_ stream: String?, descriptor: Int32 = STDERR_FILENO) -> Bool {
        guard let stream else { return false }
        let parts = stream.split(separator: ":", omittingEmptySubsequences: false).map { UInt64($0) }
        var status = stat()
        guard parts.count == 2, fstat(descriptor, &status) == 0 else { return false }
        return parts[0] == UInt64(status.st_dev) && parts[1] == UInt64(status.st_ino)
    }
}
