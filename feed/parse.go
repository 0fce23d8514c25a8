package feed

import (
	"errors"
	"io"
)

// Parse reads one document of any format.
func Parse(r io.Reader, o *Options) (*Feed, error) {
	return nil, errors.New("feed: being built")
}

// ParseBytes is Parse of a document that is in memory. It keeps doc: do not change
// it afterwards.
func ParseBytes(doc []byte, o *Options) (*Feed, error) {
	return nil, errors.New("feed: being built")
}
