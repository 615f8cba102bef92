// Which settings another configuration changes, and when the changes hold.
import BridgeJSON

/// What a reload makes of a configuration. A plain value.
struct ConfigurationDifference: Sendable, Equatable {
    /// Settings whose new values take effect immediately, in the order of the declarations; those of plugins' sections
    /// behind.
    var applied: [String] = []
    /// Settings whose new values hold after a restart.
    var restart: [String] = []
    /// The plugins that take their new section immediately.
    var plugins: [String] = []
}

/// What of a running daemon decides whether a change can take effect immediately.
struct ReloadAbility: Sendable {
    /// The plugins at work that take a new section.
    var plugins: Set<String> = []
    /// Whether the socket's permissions are the daemon's to change.
    var ownsSocket = true

    func allows(_ setting: Setting<Configuration>) -> Bool {
        setting.effect == .reload && (setting.key != "socket_mode" || ownsSocket)
    }
}

extension Configuration {
    /// What changes where another configuration takes the place of this one.
    func difference(to new: Configuration, _ ability: ReloadAbility) -> ConfigurationDifference {
        var difference = ConfigurationDifference()
        for setting in Self.settings where setting.write(self) != setting.write(new) {
            if ability.allows(setting) {
                difference.applied.append(setting.key)
            } else {
                difference.restart.append(setting.key)
            }
        }
        if policy != new.policy { difference.applied.append(Self.policyChange) }
        for plugin in sectionNames(with: new) {
            var changed = changedKeys(of: plugin, new)
            // Where a plugin runs, and in how many processes, is decided when it is loaded.
            for key in [PluginIsolation.key, PluginPool.key].map({ "plugins.\(TOMLText.key(plugin)).\($0)" }) {
                if let index = changed.firstIndex(of: key) { difference.restart.append(changed.remove(at: index)) }
            }
            if changed.isEmpty { continue }
            if ability.plugins.contains(plugin) {
                difference.applied += changed
                difference.plugins.append(plugin)
            } else {
                difference.restart += changed
            }
        }
        return difference
    }

    /// What a change of the rules is called; it always takes effect immediately.
    static let policyChange = "policy"

    /// The configuration that is in force after a reload: what takes effect immediately is new, the rest as it was.
    func taking(_ difference: ConfigurationDifference, from new: Configuration) -> Configuration {
        var result = self
        result.file = new.file
        for setting in Self.settings where difference.applied.contains(setting.key) {
            setting.copy(new, &result)
            result.origins[setting.key] = new.origins[setting.key]
        }
        result.policy = new.policy
        let others = pluginSections.filter { !difference.plugins.contains($0.name) }
        result.pluginSections = others + new.pluginSections.filter { difference.plugins.contains($0.name) }
        return result
    }

    /// The plugins that have a section here or there.
    private func sectionNames(with new: Configuration) -> [String] {
        Set((pluginSections + new.pluginSections).map(\.name)).sorted()
    }

    private func changedKeys(of plugin: String, _ new: Configuration) -> [String] {
        let old = section(of: plugin)?.json.objectValue ?? JSONObject()
        let new = new.section(of: plugin)?.json.objectValue ?? JSONObject()
        return Set(old.keys + new.keys).sorted().filter { old[$0] != new[$0] }.map {
            "plugins.\(TOMLText.key(plugin)).\(TOMLText.key($0))"
        }
    }
}
