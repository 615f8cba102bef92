internal import CWebKitGTK

/// The desktop on which this program runs.
@MainActor
public enum Desktop {
    /// Opens an address with the user's default program.
    ///
    /// - Parameter uri: An address of http or https.
    public static func open(_ uri: String) {
        // The desktop decides whether such a program exists; this does not wait for it.
        g_app_info_launch_default_for_uri_async(uri, nil, nil, nil, nil)
    }
}
