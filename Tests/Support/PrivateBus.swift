/// A D-Bus bus of a test's own: the configuration of its `dbus-daemon`.
public enum PrivateBus {
    /// The program.
    public static let program = "/usr/bin/dbus-daemon"

    /// A configuration for a bus that listens at a path, where anybody of this user's may do anything, and from which
    /// nothing is started: what is on it is what the test put there.
    public static func configuration(listeningAt path: String) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>\(address(path))</listen>
          <auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*"/>
            <allow receive_sender="*"/>
            <allow own="*"/>
          </policy>
        </busconfig>

        """
    }

    /// The address of a bus that listens at a path.
    public static func address(_ path: String) -> String { "unix:path=\(path)" }

    /// The arguments for a bus with that configuration file, which writes its address in a line once it listens.
    public static func arguments(configuration: String) -> [String] {
        ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"]
    }
}
