/// The version of Trestle. The JavaScript and the Python package have the same one, in their own files; a test holds
/// all three to it.
public enum TrestleVersion {
    /// Such as "0.1.0".
    public static let current = "0.1.0"
}
