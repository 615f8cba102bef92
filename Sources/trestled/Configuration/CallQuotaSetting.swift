// Tables of quotas: `[quotas.tasks."persistence.query"]`.
import BridgeJSON
import TOMLDocument
import TaskRuntime

extension SettingType where Value == [String: CallQuota] {
    /// A table that maps names to call quotas.
    static var callQuotas: SettingType {
        SettingType(
            shape: .callQuotas,
            read: { value throws(SettingMismatches) in
                var quotas: [String: CallQuota] = [:]
                var mismatches: [SettingMismatch] = []
                for entry in try table(value).entries {
                    do throws(SettingMismatches) { quotas[entry.key] = try quota(entry) } catch {
                        mismatches += error.items
                    }
                }
                guard mismatches.isEmpty else { throw SettingMismatches(mismatches) }
                return quotas
            },
            write: { quotas in
                let entries = quotas.sorted { $0.key < $1.key }.map { "\(TOMLText.key($0.key)) = \(text($0.value))" }
                return entries.isEmpty ? "{}" : "{ " + entries.joined(separator: ", ") + " }"
            })
    }

    private static func table(_ value: TOMLValue) throws(SettingMismatches) -> TOMLTable {
        if let table = value.table { return table }
        let reason = "expected \(SettingShape.callQuotas.expected); got \(TOMLText.named(value))"
        throw SettingMismatches(position: value.position, reason: reason)
    }

    private static func quota(_ entry: TOMLTable.Entry) throws(SettingMismatches) -> CallQuota {
        var quota = CallQuota()
        var mismatches: [SettingMismatch] = []
        for bound in try table(entry.value).entries {
            if let mismatch = read(bound, into: &quota, of: TOMLText.key(entry.key)) { mismatches.append(mismatch) }
        }
        guard mismatches.isEmpty else { throw SettingMismatches(mismatches) }
        return quota
    }

    /// Reads one quota; returns the mismatch, or `nil` if it is valid.
    private static func read(
        _ bound: TOMLTable.Entry, into quota: inout CallQuota, of name: String
    ) -> SettingMismatch? {
        guard let key = CallQuotaKey(rawValue: bound.key) else {
            let hint =
                MisplacedKey.hint(bound.key, in: name, Configuration.settings)
                ?? Suggestion.hint(for: bound.key, among: CallQuotaKey.allCases.map(\.rawValue))
            return SettingMismatch(position: bound.keyPosition, reason: "\(name).\(bound.key): unknown key\(hint)")
        }
        guard let number = bound.value.integer.flatMap({ Int(exactly: $0) }), CallQuotaKey.range.contains(number)
        else {
            return SettingMismatch(
                position: bound.value.position,
                reason: """
                    \(name).\(bound.key): expected a number of calls from 0 to \(CallQuotaKey.maximum); \
                    got \(TOMLText.named(bound.value))
                    """)
        }
        quota[keyPath: key.path] = number
        return nil
    }

    private static func text(_ quota: CallQuota) -> String {
        "{ " + CallQuotaKey.allCases.map { "\($0.rawValue) = \(quota[keyPath: $0.path])" }.joined(separator: ", ")
            + " }"
    }
}
