package river

const (
	maxParsed = 20_000 // maximum number of items of one document that are parsed
	minTaken  = 1000   // number of items per document that are always stored, even if Options.Keep is lower
)

// maxItemsTaken returns the maximum number of items of one document that are stored.
func (o *Options) maxItemsTaken() int { return min(max(o.Keep, minTaken), maxParsed) }
