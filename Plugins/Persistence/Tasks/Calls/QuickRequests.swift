// The requests of the tasks that are called most, read from the bytes as they lie. A namespace, which few callers may
// name, and every mistake are left to the way by `Codable`.
import TaskKit

extension CreateTask {
    static func quickRequest(_ options: [UInt8]) -> CreateOperation? {
        var table: ExactText?
        var key: ExactText?
        var record: Range<Int>?
        let isQuick = options.withUnsafeBytes { bytes in
            CompactJSON.forEachMember(of: bytes) { name, value in
                if name.equals("table") {
                    table = bytes.plainText(at: value)
                    return table != nil
                }
                if name.equals("key") {
                    key = bytes.plainText(at: value)
                    return key != nil
                }
                guard name.equals("record"), bytes[value.lowerBound] == UInt8(ascii: "{") else { return false }
                record = value
                return true
            }
        }
        guard isQuick, let table, let record else { return nil }
        return CreateOperation(table: table, key: key, record: .compact(options[record]))
    }
}

extension ReadTask {
    static func quickRequest(_ options: [UInt8]) -> Request? {
        var table: ExactText?
        var key: ExactText?
        let isQuick = options.withUnsafeBytes { bytes in
            CompactJSON.forEachMember(of: bytes) { name, value in
                if name.equals("table") {
                    table = bytes.plainText(at: value)
                    return table != nil
                }
                guard name.equals("key") else { return false }
                key = bytes.plainText(at: value)
                return key != nil
            }
        }
        guard isQuick, let table, let key else { return nil }
        return Request(table: table, key: key)
    }
}
