internal import TOMLDocument

extension ProfileValue where Value == PageFilter {
    /// A filter of the profile.
    static var pageFilter: ProfileValue {
        ProfileValue(
            expected: """
                a table with action = "block", "hide" or "https", and optionally url, types and domains; with "hide", \
                and only there, selector
                """,
            read: { $0.table.flatMap { filter($0) } }, write: { _ in nil })
    }

    private static func filter(_ table: TOMLTable) -> PageFilter? {
        var action: PageFilter.Action?
        var filter = PageFilter(.block)
        for entry in table.entries {
            let isRead =
                switch entry.key {
                case "action": read(entry.value, .some(.choice), &action)
                case "url": read(entry.value, .optionalText, &filter.url)
                case "types": read(entry.value, .some(.list(of: .choice)), &filter.types)
                case "domains": read(entry.value, .some(.list(of: .text)), &filter.domains)
                case "selector": read(entry.value, .optionalText, &filter.selector)
                default: false
                }
            guard isRead else { return nil }
        }
        guard let action else { return nil }
        filter.action = action
        return filter.problem == nil ? filter : nil
    }
}
