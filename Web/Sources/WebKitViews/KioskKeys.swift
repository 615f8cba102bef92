internal import CWebKitGTK
internal import MainLoop

/// The keyboard of a kiosk: combinations with Ctrl, Alt and the system key have no effect, except the one that closes
/// the window.
@MainActor
final class KioskKeys {
    private let controller: GObjectBox

    /// - Parameters:
    ///   - window: The window, a GtkWidget.
    ///   - exit: The keys that close it, in GTK's notation; `nil` for none.
    ///   - onExit: Called when they are pressed.
    init(_ window: GObjectBox, exit: String?, onExit: @escaping @MainActor () -> Void) {
        guard let made = gtk_event_controller_key_new() else { preconditionFailure("GTK makes a controller") }
        controller = GObjectBox(retaining: UnsafeMutableRawPointer(made))
        gtk_event_controller_set_propagation_phase(made, GTK_PHASE_CAPTURE)
        // The widget takes over the reference that the constructor returned.
        gtk_widget_add_controller(window.pointer(to: GtkWidget.self), made)
        let exit = exit.flatMap { Keys($0) }
        controller.connect("key-pressed") { arguments in
            let pressed = Keys(value: arguments.number(1), modifiers: arguments.flags(3))
            if pressed == exit {
                onExit()
                return true
            }
            return pressed.isCombination
        }
    }

    /// A combination of keys.
    private struct Keys: Equatable {
        static let combining =
            GDK_CONTROL_MASK.rawValue | GDK_ALT_MASK.rawValue | GDK_SUPER_MASK.rawValue | GDK_META_MASK.rawValue
        let value: UInt32
        let modifiers: UInt32

        init(value: UInt32, modifiers: UInt32) {
            self.value = gdk_keyval_to_lower(value)
            self.modifiers = modifiers & Self.combining
        }

        init?(_ text: String) {
            var (value, modifiers) = (UInt32(0), GdkModifierType(0))
            guard gtk_accelerator_parse(text, &value, &modifiers) != 0 else { return nil }
            self.init(value: value, modifiers: modifiers.rawValue)
        }

        var isCombination: Bool { modifiers != 0 }
    }
}
