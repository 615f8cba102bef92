import BridgeJSON
import Logging

/// Formats a log entry in the native protocol of the systemd journal: a datagram of fields, each on a line. A value of
/// several lines is written as its name, its length and its bytes.
enum JournalEntry {
    /// Returns the datagram.
    static func bytes(_ record: LogRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        append("PRIORITY", String(record.priority), to: &bytes)
        append("SYSLOG_IDENTIFIER", "trestled", to: &bytes)
        append("MESSAGE", record.message, to: &bytes)
        for (name, value) in record.fields { append(fieldName(name), "\(value)", to: &bytes) }
        return bytes
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        // If other control characters remain, journalctl shows the size of the value instead of the value.
        let value = VisibleText.escaped(value, keepsLines: true)
        bytes += name.utf8
        if value.utf8.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The journal discards fields with longer names.
    private static let maximumNameBytes = 64

    /// Returns a field name in the journal's form: `TRESTLE_SESSION` for `session`.
    static func fieldName(_ name: String) -> String {
        let plain = name.unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                ? Character(scalar) : "_"
        }
        return String(("TRESTLE_" + String(plain).uppercased()).prefix(maximumNameBytes))
    }
}
