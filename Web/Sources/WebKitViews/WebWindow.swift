internal import CWebKitGTK
internal import MainLoop

/// A window that shows one view.
@MainActor
public final class WebWindow {
    /// How a window is shown.
    public struct Settings: Sendable, Hashable {
        /// In pixels.
        public var width = 1024
        /// In pixels.
        public var height = 768
        /// Without decoration, on the whole screen.
        public var isKiosk = false

        /// A window of the usual kind.
        public init() {}
    }

    private let object: GObjectBox
    /// The view.
    public let view: WebView
    /// Called when the user closes the window; it stays until ``close()``.
    public var onCloseRequest: (@MainActor () -> Void)?

    /// A window with a view, which ``show()`` shows.
    ///
    /// - Parameters:
    ///   - view: The view, which is in no other window.
    ///   - settings: How the window is shown.
    public init(_ view: WebView, _ settings: Settings) {
        self.view = view
        guard let widget = gtk_window_new() else { preconditionFailure("GTK makes a window") }
        // GTK has a reference of its own until the window is destroyed.
        object = GObjectBox(retaining: UnsafeMutableRawPointer(widget))
        gtk_window_set_default_size(window, Int32(settings.width), Int32(settings.height))
        if settings.isKiosk {
            gtk_window_set_decorated(window, 0)
            gtk_window_fullscreen(window)
        }
        gtk_window_set_child(window, view.object.pointer(to: GtkWidget.self))
        object.connect("close-request") { [weak self] _ in
            self?.onCloseRequest?()
            return true
        }
    }

    /// Shows the window.
    public func show() { gtk_window_present(window) }

    private var window: UnsafeMutablePointer<GtkWindow> { object.pointer(to: GtkWindow.self) }

    /// What the desktop calls the window.
    public func setTitle(_ title: String) { gtk_window_set_title(window, title) }

    /// Whether the window has the screen to itself.
    public func setFullscreen(_ isFullscreen: Bool) {
        if isFullscreen { gtk_window_fullscreen(window) } else { gtk_window_unfullscreen(window) }
    }

    /// Closes the window, and ends the view in it.
    public func close() {
        gtk_window_set_child(window, nil)
        gtk_window_destroy(window)
    }
}
