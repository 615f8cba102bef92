/// Human-readable sizes.
enum HumanBytes {
    /// Formats a size with about two significant digits: "0 B", "850 B", "1.5 KiB", "12 MiB".
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(max(0, bytes)) B" }
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var (whole, rest, unit) = (bytes / 1024, bytes % 1024, 0)
        while whole >= 1024, unit < units.count - 1 {
            rest = whole % 1024
            whole /= 1024
            unit += 1
        }
        let tenth = rest * 10 / 1024
        return whole >= 100 || tenth == 0 ? "\(whole) \(units[unit])" : "\(whole).\(tenth) \(units[unit])"
    }
}
