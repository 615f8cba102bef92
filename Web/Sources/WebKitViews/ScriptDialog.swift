internal import CWebKitGTK

/// A question of a page to its user by `alert`, `confirm`, `prompt`, or when the page is left. Answered once; if it is
/// released without an answer, it is closed as if the user had declined. The page waits meanwhile, the main thread does
/// not.
public struct ScriptDialog: ~Copyable {
    /// The kind of a dialog.
    public enum Kind: String, Sendable {
        case alert, confirm, prompt
        /// The page wants a confirmation before it is left.
        case leave
    }

    private let dialog: OpaquePointer
    /// Whether the engine is still emitting the dialog's signal. It then closes an answered dialog itself, and closing
    /// the dialog here would crash it. Used only on the main thread, like all of this type.
    nonisolated(unsafe) static var isBeingAsked = false

    init(_ dialog: OpaquePointer) { self.dialog = webkit_script_dialog_ref(dialog) }

    deinit { release() }

    private func release() {
        if !Self.isBeingAsked { webkit_script_dialog_close(dialog) }
        webkit_script_dialog_unref(dialog)
    }

    /// The kind.
    public var kind: Kind {
        switch webkit_script_dialog_get_dialog_type(dialog) {
        case WEBKIT_SCRIPT_DIALOG_ALERT: .alert
        case WEBKIT_SCRIPT_DIALOG_CONFIRM: .confirm
        case WEBKIT_SCRIPT_DIALOG_PROMPT: .prompt
        default: .leave
        }
    }

    /// The page's message.
    public var message: String { webkit_script_dialog_get_message(dialog).map { String(cString: $0) } ?? "" }

    /// The initial text of a prompt; `nil` for other kinds.
    public var defaultText: String? {
        guard kind == .prompt else { return nil }
        return webkit_script_dialog_prompt_get_default_text(dialog).map { String(cString: $0) }
    }

    /// Accepts the dialog.
    ///
    /// - Parameter text: The text that the user entered into a prompt; `nil` for the initial text.
    public consuming func accept(_ text: String? = nil) {
        switch kind {
        case .alert: break
        case .confirm, .leave: webkit_script_dialog_confirm_set_confirmed(dialog, 1)
        case .prompt: webkit_script_dialog_prompt_set_text(dialog, text ?? defaultText ?? "")
        }
        release()
        discard self
    }
}
