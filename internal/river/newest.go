package river

const (
	maxParsed = 20_000 // items of one document that are looked at
	minTaken  = 1000   // of them that are taken in, or as many as are kept of a feed
)

// taken is how many items of one document are taken in.
func (o *Options) maxItemsTaken() int { return min(max(o.Keep, minTaken), maxParsed) }
