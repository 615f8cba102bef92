internal import OfflinePackages
internal import WebKitViews
internal import WebPackages
internal import WebProfiles

/// Answers what pages ask of offline packages.
@MainActor
final class PackageServer {
    /// Whose errors these are, as failures of loads have it.
    nonisolated static let errorDomain = "trestle-package"

    private let library: PackageLibrary
    private let policy: String?
    /// The versions that the documents of a page were begun with, by the page's number and the package's id.
    private var versions: [Int: [String: InstalledPackage]] = [:]
    weak var container: Container?

    init(_ library: PackageLibrary, policy: String?) {
        self.library = library
        self.policy = policy
    }

    /// A page begins another document, or is closed: the next file that it asks for is of the version that is used.
    func leave(_ page: Int) { versions[page] = nil }

    /// Answers a request.
    func take(_ request: SchemeRequest) {
        guard case .package(let id)? = PageOrigin(ofURI: request.uri) else {
            return request.fail(Self.errorDomain, LoadProblem.PackageProblem.missing.rawValue, "it names no package")
        }
        let page = container?.pages.values.first { request.isOf($0.view) }?.number
        let (method, uri, policy, library) = (request.method, request.uri, policy, library)
        let known = page.flatMap { versions[$0]?[id] }
        Task { [weak self] in
            let found = await Self.find(method, uri, id, known, library, policy)
            switch found {
            case .failure(let fault): Self.fail(request, fault)
            case .success(let found):
                if let page { self?.versions[page, default: [:]][id] = found.package }
                Self.answer(request, found)
            }
        }
    }

    private struct Found: Sendable {
        var package: InstalledPackage
        var answer: PackageAnswer
        /// Of the file, where there is one.
        var descriptor: Int32?
    }

    /// Waits for the disk, on a thread of the pool.
    @concurrent
    private nonisolated static func find(
        _ method: String, _ uri: String, _ id: String, _ known: InstalledPackage?, _ library: PackageLibrary,
        _ policy: String?
    ) async -> Result<Found, PackageFault> {
        do throws(PackageFault) {
            let package = if let known { known } else { try library.current(id) }
            let answer = PackageAnswer(method, uri, package.manifest, policy: policy)
            let descriptor: Int32? = if let file = answer.file { try package.open(file).descriptor() } else { nil }
            return .success(Found(package: package, answer: answer, descriptor: descriptor))
        } catch {
            return .failure(error)
        }
    }

    private static func answer(_ request: SchemeRequest, _ found: Found) {
        let body: SchemeRequest.Body =
            if let descriptor = found.descriptor, let file = found.answer.file {
                .descriptor(descriptor, byteCount: file.byteCount)
            } else {
                .none
            }
        request.answer(
            found.answer.status, type: found.answer.file?.type, fields: found.answer.fields.map { ($0.name, $0.value) },
            body)
    }

    private static func fail(_ request: SchemeRequest, _ fault: PackageFault) {
        let problem = LoadProblem.PackageProblem(fault.reason == .missing)
        request.fail(errorDomain, problem.rawValue, fault.description)
    }
}

extension LoadProblem {
    /// What is wrong with a package.
    public enum PackageProblem: Int, Sendable {
        /// It is not installed.
        case missing = 1
        /// It cannot be used.
        case invalid = 2

        init(_ isMissing: Bool) { self = isMissing ? .missing : .invalid }
    }
}

extension LoadProblem {
    /// What a failure of the engine's is.
    init(_ failure: LoadFailure) {
        if failure.domain == PackageServer.errorDomain, let problem = PackageProblem(rawValue: failure.number) {
            self = .package(problem, uri: failure.uri, message: failure.message)
        } else {
            self = .failed(uri: failure.uri, message: failure.message)
        }
    }
}
