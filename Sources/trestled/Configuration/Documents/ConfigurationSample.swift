/// The sample file: every setting with its default, commented out, and its documentation above it.
struct ConfigurationSample {
    let document: ConfigurationDocument

    var text: String {
        var lines = Self.beginning
        for table in document.tables {
            if !table.name.isEmpty { lines += [""] + comment(table.about) }
            // Headers are commented out, too: a setting appended to the file would belong to the last active table.
            if !table.name.isEmpty { lines.append("#[\(table.name)]") }
            for setting in table.settings { lines += [""] + show(setting) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func show(_ setting: DocumentedSetting) -> [String] {
        var text = setting.documentation
        if let note = setting.defaultNote { text += " By default: \(note)" }
        if !setting.type.isEmpty { text += " (\(setting.type))" }
        if setting.effect == .restart { text += " A change takes effect after a restart." }
        return comment(text) + ["#\(setting.name) = \(setting.value ?? "")"]
    }

    private static let beginning = """
        #:schema ./trestled.schema.json
        # The configuration of trestled, every setting at its default. Written by `trestled --print-config sample`.
        #
        # To change a setting, remove the # before it. A setting of a table also needs the line of its table, such as
        # [limits]. Settings without a table precede the first such line. While no table is in use, a setting without a
        # table may also be appended to the end.
        #
        # The daemon reads the file that --config names, else trestled.toml in $CONFIGURATION_DIRECTORY (systemd sets
        # it), else in /etc/trestle for root, and in $XDG_CONFIG_HOME/trestle or ~/.config/trestle for other users.
        # Flags take precedence over this file. Unknown keys, and values of the wrong type or out of range, are refused
        # with their line. `trestled --check-config` checks a file. `trestle config reload`, or SIGHUP, makes the daemon
        # read its file again.
        #
        # Durations are strings with a unit: "250ms", "5s", "2m", "1h". Sizes are "64KiB", "1MiB", or a number of bytes.
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    /// Returns the text as comment lines of limited length.
    private func comment(_ text: String) -> [String] {
        var lines: [String] = []
        var line = "#"
        for word in text.split(separator: " ") {
            if line.count + 1 + word.count > Self.lineLength {
                lines.append(line)
                line = "#"
            }
            line += " \(word)"
        }
        return lines + [line]
    }

    private static let lineLength = 118
}
