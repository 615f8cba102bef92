// Valid settings that are probably mistakes.
import NetworkAccess

extension Configuration {
    /// Returns the warnings, each with its location.
    ///
    /// - Parameters:
    ///   - descriptors: The maximum number of descriptors of the process.
    ///   - obstacle: The restriction that keeps the process from every network; `nil` if there is none.
    func warnings(
        descriptors: Int = DescriptorLimit.hard, obstacle: String? = NetworkAccess.obstacle()
    ) -> [ConfigurationProblem] {
        [tooManySessions(descriptors), tooLargeEvents, droppedPlugins, closedNetwork(obstacle)].compactMap { $0 }
            + policy.warnings
    }

    /// The plugin that is shipped with the daemon and needs a network.
    private static let networkPlugin = "fetch"

    /// Returns a warning if the network plugin is configured but there is no network.
    private func closedNetwork(_ obstacle: String?) -> ConfigurationProblem? {
        guard let obstacle, !disabledPlugins.contains(Self.networkPlugin),
            let section = pluginSections.first(where: { $0.name == Self.networkPlugin })
        else { return nil }
        return ConfigurationProblem(
            source: section.file, position: section.position, key: "plugins.\(section.name)",
            reason: "the plugin has no network access: \(obstacle); the systemd drop-in trestle-network.conf allows it")
    }

    /// A warning if a file excludes the plugins that are shipped with the daemon.
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
        // The default was not chosen by a user.
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
            "an event may be as long as a message (\(bound)); one that is longer than this queue is lost for a "
                + "session with unread events")
    }
}
