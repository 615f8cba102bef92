internal import CWebKitGTK

/// The desktop beside this program.
@MainActor
public enum Desktop {
    /// Has the program that the user chose for it open an address.
    ///
    /// - Parameter uri: An address of http or https.
    public static func open(_ uri: String) {
        // Whether there is such a program is the desktop's: nobody here waits for it.
        g_app_info_launch_default_for_uri_async(uri, nil, nil, nil, nil)
    }
}
