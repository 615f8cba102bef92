import TaskKit

/// Where in a record a query looks: names joined by dots, each the name of an object's member.
///
/// A backslash takes its special meaning from a dot, a backslash, a `-` and a `$`, so that every name can be written:
/// `a\.b` is the one member "a.b".
struct FieldPath: Hashable, Sendable {
    let names: [String]

    /// - Returns: nil where a name is empty.
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

    /// The value there; nil: the record has no such field.
    func value(in record: JSON) -> JSON? {
        var value = record
        for name in names {
            guard let inner = value.objectValue?[name] else { return nil }
            value = inner
        }
        return value
    }
}
