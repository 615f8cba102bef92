// The settings that differ in another configuration, and when the changes take effect.
import BridgeJSON

/// The effect of a reload on a configuration. A plain value.
struct ConfigurationDifference: Sendable, Equatable {
    /// Settings whose new values take effect immediately, in the order of the declarations, followed by those of
    /// plugins' sections.
    var applied: [String] = []
    /// Settings whose new values take effect after a restart.
    var restart: [String] = []
    /// The plugins that receive their new section immediately.
    var plugins: [String] = []
}

/// The properties of a running daemon that determine whether a change can take effect immediately.
struct ReloadAbility: Sendable {
    /// The running plugins that accept a new section.
    var plugins: Set<String> = []
    /// Whether the daemon owns its socket and may change its permissions.
    var ownsSocket = true

    func allows(_ setting: Setting<Configuration>) -> Bool {
        setting.effect == .reload && (setting.key != "socket_mode" || ownsSocket)
    }
}

extension Configuration {
    /// Returns the changes that another configuration causes if it replaces this one.
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
            // The process and pool of a plugin are fixed when it is loaded.
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

    /// The name of a change of the rules, which always takes effect immediately.
    static let policyChange = "policy"

    /// Returns the effective configuration after a reload: values that take effect immediately are new, the others
    /// unchanged.
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

    /// Returns the names of the plugins with a section in either configuration.
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
