// The declaration of a setting, from which everything about it comes.
import TOMLDocument

/// One setting of `Target`, declared once: reading, the messages about it, its default as TOML, and what documentation,
/// a sample and a schema need (summary, shape with units and range).
struct Setting<Target>: Sendable {
    /// The key with its tables, as in `limits.message_bytes`.
    let key: String
    /// What it is for: one sentence.
    let summary: String
    /// What its values look like.
    let shape: SettingShape
    /// What the default is, where it depends on who runs the daemon and from where.
    let defaultNote: String?
    /// Reads the value into the target.
    let read: @Sendable (TOMLValue, inout Target) throws(SettingMismatch) -> Void
    /// The target's value as TOML. Asked of a target that nobody has configured, this is the default.
    let write: @Sendable (Target) -> String

    init<Value>(
        _ key: String, _ type: SettingType<Value>, _ path: any WritableKeyPath<Target, Value> & Sendable,
        _ summary: String, defaultNote: String? = nil
    ) {
        self.key = key
        self.summary = summary
        self.shape = type.shape
        self.defaultNote = defaultNote
        read = { value, target throws(SettingMismatch) in target[keyPath: path] = try type.read(value) }
        write = { target in type.write(target[keyPath: path]) }
    }

    /// The tables that the key stands in: `limits` for `limits.message_bytes`, empty for a top-level key.
    var table: String {
        key.lastIndex(of: ".").map { String(key[..<$0]) } ?? ""
    }

    /// The last part of the key.
    var name: String {
        key.lastIndex(of: ".").map { String(key[key.index(after: $0)...]) } ?? key
    }
}
