/// A private D-Bus bus of a test: the configuration of its `dbus-daemon`.
public enum PrivateBus {
    /// The path of the program.
    public static let program = "/usr/bin/dbus-daemon"

    /// Returns the configuration of a bus that listens at a path, permits everything to the current user, and starts no
    /// services.
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

    /// Returns the address of a bus that listens at a path.
    public static func address(_ path: String) -> String { "unix:path=\(path)" }

    /// Returns the arguments for a bus with this configuration file. It writes its address in a line when it listens.
    public static func arguments(configuration: String) -> [String] {
        ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address=1"]
    }
}
