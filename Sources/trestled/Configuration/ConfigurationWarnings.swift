// What is allowed in a configuration and will hardly be meant.
import Glibc

extension Configuration {
    /// Each with its place. Blocks: looks at the file.
    ///
    /// - Parameter descriptors: How many the process may have at the most.
    func warnings(descriptors: Int = DescriptorLimit.hard) -> [ConfigurationProblem] {
        [writableFile, tooManySessions(descriptors), tooLargeEvents].compactMap { $0 }
            + policy.warnings
    }

    /// Who may write the file may have the daemon listen, and load libraries, wherever he likes.
    private var writableFile: ConfigurationProblem? {
        var status = stat()
        guard let file, stat(file, &status) == 0 else { return nil }
        if status.st_uid != 0, status.st_uid != geteuid() {
            return ConfigurationProblem(
                source: file, reason: "the file belongs to uid \(status.st_uid), who may change what this daemon does")
        }
        guard status.st_mode & S_IWOTH != 0 else { return nil }
        return ConfigurationProblem(
            source: file, reason: "everybody may write the file; take that permission away: chmod o-w \(file)")
    }

    private func tooManySessions(_ descriptors: Int) -> ConfigurationProblem? {
        // Nobody has thought of a default.
        guard origins["limits.sessions"] != nil else { return nil }
        return DescriptorLimit.warning(limit: descriptors, sessions: limits.sessions).map {
            problem(with: "limits.sessions", $0)
        }
    }

    private var tooLargeEvents: ConfigurationProblem? {
        guard limits.eventQueueBytes < limits.messageBytes, origins["limits.event_queue_bytes"] != nil else {
            return nil
        }
        let bound = Quantity.text(bytes: limits.messageBytes)
        return problem(
            with: "limits.event_queue_bytes",
            "an event may be as long as a message (\(bound)); one that is longer than this queue never reaches a session "
                + "that is behind with its reading")
    }
}
