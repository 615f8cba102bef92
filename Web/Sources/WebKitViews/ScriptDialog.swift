internal import CWebKitGTK

/// What a page asks its user by `alert`, `confirm`, `prompt`, or when it is left. Answered once; closed where it is
/// dropped, as if the user had declined. The page waits meanwhile, the main thread does not.
public struct ScriptDialog: ~Copyable {
    /// The kinds.
    public enum Kind: String, Sendable {
        case alert, confirm, prompt
        /// The page wants to be asked before it is left.
        case leave
    }

    private let dialog: OpaquePointer
    /// Whether the engine still asks. It closes a dialog that is answered meanwhile by itself, and does not survive the
    /// close of one. Used on the main thread alone, as all of this.
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

    /// What the page says.
    public var message: String { webkit_script_dialog_get_message(dialog).map { String(cString: $0) } ?? "" }

    /// What a prompt begins with.
    public var defaultText: String? {
        guard kind == .prompt else { return nil }
        return webkit_script_dialog_prompt_get_default_text(dialog).map { String(cString: $0) }
    }

    /// Agrees.
    ///
    /// - Parameter text: What the user wrote into a prompt.
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
