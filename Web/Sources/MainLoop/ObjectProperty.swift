internal import CWebKitGTK
internal import Glibc

/// The value of a construction property of an object.
public enum ObjectProperty {
    case object(GObjectBox)
    case string(String)
    case truth(Bool)
    /// A boxed value, which is copied, and the GType number of its type.
    case boxed(type: UInt, UnsafeMutableRawPointer)
}

extension GObjectBox {
    /// Creates an object; a floating reference is sunk.
    ///
    /// - Parameters:
    ///   - type: The GType number of the type.
    ///   - properties: The construction properties.
    public convenience init(type: UInt, _ properties: [(String, ObjectProperty)]) {
        var values = properties.map { Self.value($0.1) }
        let names = properties.map { strdup($0.0) }
        defer {
            for index in values.indices { g_value_unset(&values[index]) }
            for name in names { free(name) }
        }
        var pointers = names.map { UnsafePointer($0) }
        guard let raw = g_object_new_with_properties(type, UInt32(values.count), &pointers, &values) else {
            preconditionFailure("GObject makes an object or ends the process")
        }
        // Sinks a floating reference; any other object then has one reference too many.
        let isFloating = g_object_is_floating(raw) != 0
        self.init(retaining: UnsafeMutableRawPointer(raw))
        if !isFloating { g_object_unref(raw) }
    }

    private static func value(_ property: ObjectProperty) -> GValue {
        var value = GValue()
        switch property {
        case .object(let object):
            g_value_init(&value, trestle_object_type())
            g_value_set_object(&value, object.raw)
        case .string(let text):
            g_value_init(&value, trestle_string_type())
            g_value_set_string(&value, text)
        case .truth(let truth):
            g_value_init(&value, trestle_boolean_type())
            g_value_set_boolean(&value, truth ? 1 : 0)
        case .boxed(let type, let pointer):
            g_value_init(&value, GType(type))
            g_value_set_boxed(&value, pointer)
        }
        return value
    }
}
