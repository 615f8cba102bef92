import HTTPRules

/// The public suffix list built into libpsl. Debian's libpsl has one.
let suffixes = PublicSuffixList()!

/// Returns the refusal that `body` throws; `nil` if it throws none.
func refusal<T>(_ body: () throws -> T) -> AddressRefusal? {
    do {
        _ = try body()
        return nil
    } catch { return error as? AddressRefusal }
}
