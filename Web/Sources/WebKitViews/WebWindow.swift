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
        /// The keys that close a kiosk's window, as GTK writes them: `<Control><Alt>q`; nil: none do.
        public var exitKey: String?

        /// A window of the usual kind.
        public init() {}
    }

    private let object: GObjectBox
    private var keys: KioskKeys?
    /// What the display shows of it, once it is shown.
    private var surface: GObjectBox?
    /// The view.
    public let view: WebView
    /// Called when the user closes the window; it stays until ``close()``.
    public var onCloseRequest: (@MainActor () -> Void)?
    /// Called when the window comes into sight or goes out of it: it is hidden or minimized, or no longer.
    public var onSightChange: (@MainActor () -> Void)?
    private var wasInSight = false

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
        object.observe("map") { [weak self] _ in self?.mapped() }
        object.observe("unmap") { [weak self] _ in self?.lookForSight() }
        if settings.isKiosk {
            view.hasContextMenu = false
            keys = KioskKeys(object, exit: settings.exitKey) { [weak self] in self?.onCloseRequest?() }
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

    /// Its size in pixels; before it is shown, the one that it will have.
    public var size: (width: Int, height: Int) {
        get {
            var (width, height): (Int32, Int32) = (0, 0)
            gtk_window_get_default_size(window, &width, &height)
            return (Int(width), Int(height))
        }
        set { gtk_window_set_default_size(window, Int32(clamping: newValue.width), Int32(clamping: newValue.height)) }
    }

    /// Whether it has the screen to itself.
    public var isFullscreen: Bool { gtk_window_is_fullscreen(window) != 0 }

    /// Whether the user works with it.
    public var isActive: Bool { gtk_window_is_active(window) != 0 }

    private func mapped() {
        lookForSight()
        guard surface == nil, let made = gtk_native_get_surface(OpaquePointer(object.raw)) else { return }
        let box = GObjectBox(retaining: UnsafeMutableRawPointer(made))
        box.observe("notify::state") { [weak self] _ in self?.lookForSight() }
        surface = box
        watchPaints(made)
    }

    /// Has the long turns of the main loop say where GTK lays out and paints a window.
    private func watchPaints(_ surface: OpaquePointer) {
        guard let clock = gdk_surface_get_frame_clock(surface) else { return }
        let box = GObjectBox(retaining: UnsafeMutableRawPointer(clock))
        box.observe("before-paint") { _ in MainLoop.toolkitBegins("paint") }
        box.observe("after-paint") { _ in MainLoop.toolkitEnds() }
    }

    private func lookForSight() {
        guard isInSight != wasInSight else { return }
        wasInSight = isInSight
        onSightChange?()
    }

    /// Whether a user can see it: it is neither hidden nor minimized.
    public var isInSight: Bool {
        let isMapped = gtk_widget_get_mapped(object.pointer(to: GtkWidget.self)) != 0
        guard isMapped, let surface else { return isMapped }
        let state = gdk_toplevel_get_state(surface.opaque)
        return state.rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue == 0
    }

    /// Whether it is shown.
    public var isVisible: Bool {
        get { gtk_widget_get_visible(object.pointer(to: GtkWidget.self)) != 0 }
        set { gtk_widget_set_visible(object.pointer(to: GtkWidget.self), newValue ? 1 : 0) }
    }

    /// Closes the window, and ends the view in it.
    public func close() {
        gtk_window_set_child(window, nil)
        gtk_window_destroy(window)
    }
}
