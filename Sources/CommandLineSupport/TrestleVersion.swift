/// The version of Trestle. The JavaScript and the Python package state the same version in their own files; a test
/// checks that all three are equal.
public enum TrestleVersion {
    /// The version number, such as "0.1.0".
    public static let current = "0.1.0"
}
