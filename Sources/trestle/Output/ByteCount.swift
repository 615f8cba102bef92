/// Human-readable numbers of bytes.
enum ByteCount {
    /// Formats a number of bytes: "512 bytes", "1.5 KiB", "340 MiB".
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return "\(bytes) bytes" }
        var (unit, tenths) = (0, bytes * 10 / 1024)
        while tenths >= 10_240, unit < units.count - 1 { (unit, tenths) = (unit + 1, tenths / 1024) }
        return tenths >= 1000 || tenths % 10 == 0
            ? "\(tenths / 10) \(units[unit])" : "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static let units = ["KiB", "MiB", "GiB", "TiB"]
}
