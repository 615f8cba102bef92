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
        if setting.effect == .restart { text += " A change waits for a restart." }
        return comment(text) + ["#\(setting.name) = \(setting.value ?? "")"]
    }

    private static let beginning = """
        #:schema ./trestled.schema.json
        # The configuration of trestled, every setting at its default. Written by `trestled --print-config sample`.
        #
        # A setting is in force once the # before it is taken away; one of a table needs the line of the table, such as
        # [limits], too. Settings without a table stand above the first such line. As long as no table is in force, a
        # setting without one may also be appended to the end.
        #
        # The daemon reads, where --config names no other file, trestled.toml in $CONFIGURATION_DIRECTORY (systemd sets
        # it); without that in /etc/trestle for root, else in $XDG_CONFIG_HOME/trestle or ~/.config/trestle. Flags beat
        # this file. An unknown key, a value of the wrong type and one out of range are refused with their line.
        # `trestled --check-config` says whether a file is good, `trestle config reload` or SIGHUP has the daemon read it again.
        #
        # Durations are text with a unit: "250ms", "5s", "2m", "1h". Sizes are "64KiB", "1MiB", or a number of bytes.
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
