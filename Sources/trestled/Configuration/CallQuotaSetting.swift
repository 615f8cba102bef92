// Tables of quotas: `[quotas.tasks."persistence.query"]`.
import TOMLDocument
import TaskRuntime

extension SettingType where Value == [String: CallQuota] {
    /// A table for each name, with bounds of calls.
    static var callQuotas: SettingType {
        SettingType(
            shape: .callQuotas,
            read: { value throws(SettingMismatch) in
                var quotas: [String: CallQuota] = [:]
                for entry in try table(value).entries { quotas[entry.key] = try quota(entry) }
                return quotas
            },
            write: { quotas in
                let entries = quotas.sorted { $0.key < $1.key }.map { "\(TOMLText.key($0.key)) = \(text($0.value))" }
                return entries.isEmpty ? "{}" : "{ " + entries.joined(separator: ", ") + " }"
            })
    }

    private static func table(_ value: TOMLValue) throws(SettingMismatch) -> TOMLTable {
        if let table = value.table { return table }
        let reason = "expected \(SettingShape.callQuotas.expected); got \(TOMLText.named(value))"
        throw SettingMismatch(position: value.position, reason: reason)
    }

    private static func quota(_ entry: TOMLTable.Entry) throws(SettingMismatch) -> CallQuota {
        var quota = CallQuota()
        for bound in try table(entry.value).entries {
            guard let key = CallQuotaKey(rawValue: bound.key) else {
                let hint = Suggestion.hint(for: bound.key, among: CallQuotaKey.allCases.map(\.rawValue))
                throw SettingMismatch(
                    position: bound.keyPosition, reason: "\(TOMLText.key(entry.key)).\(bound.key): unknown key\(hint)")
            }
            guard let number = bound.value.integer.flatMap({ Int(exactly: $0) }), CallQuotaKey.range.contains(number)
            else {
                throw SettingMismatch(
                    position: bound.value.position,
                    reason: """
                        \(TOMLText.key(entry.key)).\(bound.key): expected a number of calls from 0 to \(CallQuotaKey.most); got \
                        \(TOMLText.named(bound.value))
                        """)
            }
            quota[keyPath: key.path] = number
        }
        return quota
    }

    private static func text(_ quota: CallQuota) -> String {
        "{ " + CallQuotaKey.allCases.map { "\($0.rawValue) = \(quota[keyPath: $0.path])" }.joined(separator: ", ")
            + " }"
    }
}
