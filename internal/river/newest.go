package river

const (
	maxParsed = 20_000 // items of one document that are parsed
	minTaken  = 1000   // items that are stored at least, even when fewer are kept per feed
)

// maxItemsTaken returns how many items of one document are stored.
func (o *Options) maxItemsTaken() int { return min(max(o.Keep, minTaken), maxParsed) }
