internal import CWebKitGTK
internal import MainLoop

/// A script or a style for future documents, in the engine's form. Views share it, so that its text is in memory once.
@MainActor
public final class DocumentAddition {
    private enum Raw {
        case script(OpaquePointer)
        case style(OpaquePointer)
    }

    private let raw: Raw

    /// Creates a script.
    ///
    /// - Parameter script: The script.
    public init(script: UserScript) {
        let frames = Self.frames(script)
        let time =
            script.moment == .start
            ? WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START : WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_END
        var made: OpaquePointer?
        UserScript.withList(script.patterns) { list in
            made =
                if let world = script.world {
                    webkit_user_script_new_for_world(script.source, frames, time, world, list, nil)
                } else {
                    webkit_user_script_new(script.source, frames, time, list, nil)
                }
        }
        guard let made else { preconditionFailure("WebKit makes a script") }
        raw = .script(made)
    }

    /// Creates a style.
    ///
    /// - Parameter style: The style; its source is the style sheet. Its world and moment are not used.
    public init(style: UserScript) {
        var made: OpaquePointer?
        UserScript.withList(style.patterns) { list in
            made = webkit_user_style_sheet_new(
                style.source, Self.frames(style), WEBKIT_USER_STYLE_LEVEL_USER, list, nil)
        }
        guard let made else { preconditionFailure("WebKit makes a style sheet") }
        raw = .style(made)
    }

    isolated deinit {
        switch raw {
        case .script(let script): webkit_user_script_unref(script)
        case .style(let style): webkit_user_style_sheet_unref(style)
        }
    }

    private static func frames(_ script: UserScript) -> WebKitUserContentInjectedFrames {
        script.isForAllFrames ? WEBKIT_USER_CONTENT_INJECT_ALL_FRAMES : WEBKIT_USER_CONTENT_INJECT_TOP_FRAME
    }

    fileprivate func add(to manager: OpaquePointer) {
        switch raw {
        case .script(let script): webkit_user_content_manager_add_script(manager, script)
        case .style(let style): webkit_user_content_manager_add_style_sheet(manager, style)
        }
    }

    fileprivate func remove(from manager: OpaquePointer) {
        switch raw {
        case .script(let script): webkit_user_content_manager_remove_script(manager, script)
        case .style(let style): webkit_user_content_manager_remove_style_sheet(manager, style)
        }
    }
}

extension WebView {
    /// Sets the scripts and styles of future documents, in this order. Only new additions are sent to the view's
    /// process, which appends them to the unchanged ones.
    ///
    /// - Parameter wanted: All additions, each once.
    public func setAdditions(_ wanted: [DocumentAddition]) {
        let identities = Set(wanted.map { ObjectIdentifier($0) })
        let kept = additions.filter { identities.contains(ObjectIdentifier($0)) }
        if kept.elementsEqual(wanted.prefix(kept.count), by: ===) {
            for addition in additions where !identities.contains(ObjectIdentifier(addition)) {
                addition.remove(from: content.opaque)
            }
            for addition in wanted.dropFirst(kept.count) { addition.add(to: content.opaque) }
        } else {
            webkit_user_content_manager_remove_all_scripts(content.opaque)
            webkit_user_content_manager_remove_all_style_sheets(content.opaque)
            for addition in wanted { addition.add(to: content.opaque) }
        }
        additions = wanted
    }
}
