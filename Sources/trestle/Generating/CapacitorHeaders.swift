import BridgeJSON

/// Capacitor's `PluginHeaders` in JavaScript: the plugins and methods that a page's `registerPlugin` finds. A task
/// `files.open` is the method `open` of the plugin `files`; a task without a dot is a method of the plugin `Trestle`.
/// Plugins that the page already has from its app stay; a plugin of the same name is replaced.
struct CapacitorHeaders {
    /// The plugin of tasks without a dot in their names.
    private static let ownPlugin = "Trestle"
    /// The additional methods of each plugin, for events.
    private static let listenerMethods: [(name: String, type: String)] = [
        ("addListener", "callback"), ("removeListener", "callback"), ("removeAllListeners", "promise"),
    ]

    /// Returns the module's text.
    ///
    /// - Parameter descriptions: The daemon's descriptions of the tasks, in the order of the output.
    static func text(_ descriptions: [JSON], header: [String]) -> String {
        var plugins: [(name: String, methods: [String])] = []
        for name in descriptions.compactMap({ $0["name"]?.stringValue }) {
            let (plugin, method) = parts(name)
            if let index = plugins.firstIndex(where: { $0.name == plugin }) {
                plugins[index].methods.append(method)
            } else {
                plugins.append((plugin, [method]))
            }
        }
        let comment = header.map { $0.isEmpty ? "//\n" : "// \($0)\n" }.joined()
        return comment + """

            window.Capacitor = window.Capacitor || {};
            window.Capacitor.PluginHeaders = ((others, own) => [
                ...others.filter(({ name }) => !own.some((plugin) => plugin.name === name)),
                ...own,
            ])(window.Capacitor.PluginHeaders || [], [
            \(plugins.map(entry).joined(separator: "\n"))
            ]);

            """
    }

    private static func parts(_ task: String) -> (plugin: String, method: String) {
        guard let dot = task.lastIndex(of: ".") else { return (ownPlugin, task) }
        return (String(task[..<dot]), String(task[task.index(after: dot)...]))
    }

    private static func entry(_ plugin: (name: String, methods: [String])) -> String {
        let own = listenerMethods.filter { !plugin.methods.contains($0.name) }
        let methods = plugin.methods.map { ($0, "promise") } + own.map { ($0.name, $0.type) }
        let lines = methods.map { name, type in
            "            { name: \(GeneratedText.quoted(name)), rtype: \"\(type)\" },\n"
        }
        return "    {\n        name: \(GeneratedText.quoted(plugin.name)),\n        methods: [\n"
            + lines.joined() + "        ],\n    },"
    }
}
