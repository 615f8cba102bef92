import TaskKit

/// The path of a field in a record: the names of members, joined by dots.
///
/// A backslash escapes a dot, a backslash, a `-` and a `$`, so that every name can be written: `a\.b` is the single
/// member "a.b".
struct FieldPath: Hashable, Sendable {
    let names: [String]

    /// - Returns: The path; `nil` if a name is empty.
    init?(parsing text: String) {
        var names: [String] = []
        var name = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                if !".\\-$".unicodeScalars.contains(scalar) { name.append("\\") }
                name.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "." {
                names.append(String(name))
                name.removeAll()
            } else {
                name.append(scalar)
            }
        }
        if isEscaped { name.append("\\") }
        names.append(String(name))
        if names.contains(where: \.isEmpty) { return nil }
        self.names = names
    }

    /// Returns the field's value; `nil` if the record has no such field.
    func value(in record: JSON) -> JSON? {
        var value = record
        for name in names {
            guard let inner = value.objectValue?[name] else { return nil }
            value = inner
        }
        return value
    }
}
