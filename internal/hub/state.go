package hub
type state struct{}
