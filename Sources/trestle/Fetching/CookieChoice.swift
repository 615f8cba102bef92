import ArgumentParser
import BridgeJSON

/// Which profile of cookies.
struct CookieProfile: ParsableArguments {
    @Option(help: ArgumentHelp("The profile; without it: default.", valueName: "name"))
    var profile: String?

    var options: JSONObject {
        var options = JSONObject()
        options["profile"] = profile.map(JSON.string)
        return options
    }
}

/// Which cookies of a profile.
struct CookieChoice: ParsableArguments {
    @OptionGroup var profile: CookieProfile

    @Option(help: ArgumentHelp("Only the cookies that go to this URL.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("Only the cookies of this domain and the names below it.", valueName: "host"))
    var domain: String?

    @Option(help: ArgumentHelp("Only the cookies of this name.", valueName: "name"))
    var name: String?

    func validate() throws {
        if url != nil, domain != nil { throw ValidationError("--url and --domain exclude each other") }
    }

    var options: JSONObject {
        var options = profile.options
        options["url"] = url.map(JSON.string)
        options["domain"] = domain.map(JSON.string)
        options["name"] = name.map(JSON.string)
        return options
    }
}

/// The forms of files of cookies.
enum CookieFileFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case netscape
    case json
    case webkit
}
