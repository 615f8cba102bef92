/// How old a response is: RFC 9111, section 4.2.3.
public enum Age {
    /// The age of a stored response.
    ///
    /// A clock that was set back since has no better estimate than the time by which it was: a response that came from
    /// the future ages as fast as one of the past.
    ///
    /// - Parameters:
    ///   - fields: Its fields.
    ///   - requestedAt: When its request was sent.
    ///   - receivedAt: When it came.
    ///   - now: The time.
    public static func current(
        of fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime, now: UnixTime
    ) -> Duration {
        let resident = TimeSpan.between(receivedAt, now)
        return initial(of: fields, requestedAt: requestedAt, receivedAt: receivedAt)
            + (resident < .zero ? .zero - resident : resident)
    }

    /// How old it was when it came: the larger of what its `Date` and its `Age` say.
    static func initial(of fields: HeaderList, requestedAt: UnixTime, receivedAt: UnixTime) -> Duration {
        let date = Freshness.date(of: fields, receivedAt: receivedAt)
        let apparent = max(.zero, TimeSpan.between(date, receivedAt))
        let delay = max(.zero, TimeSpan.between(requestedAt, receivedAt))
        return max(apparent, value(of: fields) + delay)
    }

    /// What `Age` says: RFC 9111, section 5.1. Of several values the first counts; one that is no number is no value.
    static func value(of fields: HeaderList) -> Duration {
        fields.first(named: FieldName.age).flatMap { line in
            FieldScanner.members(of: line).first.flatMap { DeltaSeconds.parse($0) }
        } ?? .zero
    }
}
