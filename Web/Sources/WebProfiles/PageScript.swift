/// A script of the profile's, which runs in documents.
public struct PageScript: Sendable, Hashable {
    /// When it runs.
    public enum Moment: String, Sendable, CaseIterable, Codable {
        /// Before any script of the document.
        case start
        /// When the document has been read.
        case end
    }

    /// In which frames it runs.
    public enum Frames: String, Sendable, CaseIterable, Codable {
        /// The page's own alone.
        case top
        /// All frames.
        case all
    }

    /// Among which other scripts it runs.
    public enum World: String, Sendable, CaseIterable, Codable {
        /// Those of the page.
        case page
        /// Those of clients and profiles, apart from the page's.
        case isolated
    }

    /// How many a profile may have.
    public static let maximum = 64
    /// The bytes of all scripts of a profile.
    public static let maximumBytes = 1 << 20

    /// Its file: absolute, or within the profile's folder.
    public var file: String
    /// What is in the file, once it has been read.
    public var source = ""
    /// When it runs.
    public var moment = Moment.start
    /// In which frames it runs.
    public var frames = Frames.top
    /// Among which other scripts it runs.
    public var world = World.page
    /// The origins of its documents; nil: all.
    public var origins: [PageOrigin]?

    /// A script for the top frame of all documents, whose file has not been read.
    ///
    /// - Parameter file: Its file.
    public init(file: String) { self.file = file }
}
