import HTTPRules

/// The list of public suffixes that libpsl was built with; Debian's has one.
let suffixes = PublicSuffixList()!

/// The refusal that something throws; nil where it throws none.
func refusal<T>(_ body: () throws -> T) -> AddressRefusal? {
    do {
        _ = try body()
        return nil
    } catch { return error as? AddressRefusal }
}
