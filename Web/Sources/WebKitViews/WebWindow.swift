internal import CWebKitGTK
internal import MainLoop

/// A window that shows one view.
@MainActor
public final class WebWindow {
    /// The settings of a window.
    public struct Settings: Sendable, Hashable {
        /// In pixels.
        public var width = 1024
        /// In pixels.
        public var height = 768
        /// Whether it fills the screen, without decoration.
        public var isKiosk = false
        /// The keys that close a kiosk's window, in GTK's notation: `<Control><Alt>q`; `nil` for none.
        public var exitKey: String?

        /// Creates the settings of a normal window.
        public init() {}
    }

    private let object: GObjectBox
    private var keys: KioskKeys?
    /// The window's surface; `nil` until it is shown.
    private var surface: GObjectBox?
    /// The view.
    public let view: WebView
    /// Called when the user closes the window, which stays open until ``close()``.
    public var onCloseRequest: (@MainActor () -> Void)?
    /// Called when the window becomes visible to the user or stops being so, because it is shown, hidden or minimized.
    public var onSightChange: (@MainActor () -> Void)?
    private var wasInSight = false

    /// Creates a window with a view; ``show()`` shows it.
    ///
    /// - Parameters:
    ///   - view: The view, which is in no other window.
    ///   - settings: The settings of the window.
    public init(_ view: WebView, _ settings: Settings) {
        self.view = view
        guard let widget = gtk_window_new() else { preconditionFailure("GTK makes a window") }
        // GTK retains the window until it is destroyed.
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

    /// Sets the title of the window.
    public func setTitle(_ title: String) { gtk_window_set_title(window, title) }

    /// Makes the window fill the screen, or ends that.
    public func setFullscreen(_ isFullscreen: Bool) {
        if isFullscreen { gtk_window_fullscreen(window) } else { gtk_window_unfullscreen(window) }
    }

    /// The size in pixels; before the window is shown, its initial size.
    public var size: (width: Int, height: Int) {
        get {
            var (width, height): (Int32, Int32) = (0, 0)
            gtk_window_get_default_size(window, &width, &height)
            return (Int(width), Int(height))
        }
        set { gtk_window_set_default_size(window, Int32(clamping: newValue.width), Int32(clamping: newValue.height)) }
    }

    /// Whether the window fills the screen.
    public var isFullscreen: Bool { gtk_window_is_fullscreen(window) != 0 }

    /// Whether the window has the user's focus.
    public var isActive: Bool { gtk_window_is_active(window) != 0 }

    private func mapped() {
        lookForSight()
        guard surface == nil, let made = gtk_native_get_surface(OpaquePointer(object.raw)) else { return }
        let box = GObjectBox(retaining: UnsafeMutableRawPointer(made))
        box.observe("notify::state") { [weak self] _ in self?.lookForSight() }
        surface = box
        watchPaints(made)
    }

    /// Measures GTK's layout and painting of a window for the statistics of long turns.
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

    /// Whether the window is visible to the user: neither hidden nor minimized.
    public var isInSight: Bool {
        let isMapped = gtk_widget_get_mapped(object.pointer(to: GtkWidget.self)) != 0
        guard isMapped, let surface else { return isMapped }
        let state = gdk_toplevel_get_state(surface.opaque)
        return state.rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue == 0
    }

    /// Whether the window is shown.
    public var isVisible: Bool {
        get { gtk_widget_get_visible(object.pointer(to: GtkWidget.self)) != 0 }
        set { gtk_widget_set_visible(object.pointer(to: GtkWidget.self), newValue ? 1 : 0) }
    }

    /// Closes the window and releases its view.
    public func close() {
        gtk_window_set_child(window, nil)
        gtk_window_destroy(window)
    }
}
