// What is allowed in a configuration and will hardly be meant.

extension Configuration {
    /// Each with its location.
    ///
    /// - Parameter descriptors: How many the process may have at the most.
    func warnings(descriptors: Int = DescriptorLimit.hard) -> [ConfigurationProblem] {
        [tooManySessions(descriptors), tooLargeEvents, droppedPlugins].compactMap { $0 } + policy.warnings
    }

    /// Plugins that came with the daemon, and that a file leaves out.
    private var droppedPlugins: ConfigurationProblem? {
        guard origins["plugin_dir"]?.isFile == true, let shipped = shippedDirectory,
            !pluginSearch.named.contains(where: isShippedDirectory)
        else { return nil }
        return problem(
            with: "plugin_dir",
            "the plugins that came with the daemon, in \(shipped), are not loaded: add that directory, or leave "
                + "plugin_dir out and install your own plugins beside them with `trestle plugin install`")
    }

    private func tooManySessions(_ descriptors: Int) -> ConfigurationProblem? {
        // No user has chosen the default.
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
            "an event may be as long as a message (\(bound)); one that is longer than this queue never reaches a "
                + "session that is behind with its reading")
    }
}
