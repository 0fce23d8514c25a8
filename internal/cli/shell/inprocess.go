package shell

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// inProcess is a client.HTTPClient that calls a handler in this process. It streams the bodies of
// requests and responses, and supports trailers.
type inProcess struct{ handler http.Handler }

// errAborted is the error of reading a response whose handler has panicked.
var errAborted = errors.New("the response ended early")

// Do calls the handler and returns as soon as the response has begun.
func (t inProcess) Do(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	in.RequestURI = req.URL.RequestURI()
	in.Host = req.URL.Host
	in.RemoteAddr = "127.0.0.1:0"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Body == nil {
		in.Body = http.NoBody
	}
	r, w := io.Pipe()
	a := &localAnswer{header: http.Header{}, body: w, begun: make(chan *http.Response, 1)}
	a.response = &http.Response{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, ContentLength: -1, Trailer: http.Header{}, Body: r}
	go a.serve(t.handler, in)
	select {
	case res := <-a.begun:
		return res, nil
	case <-req.Context().Done():
		// Close the pipe, so that later writes of the handler fail.
		_ = r.Close()
		return nil, req.Context().Err()
	}
}

// localAnswer is the http.ResponseWriter of a response that is read from a pipe.
type localAnswer struct {
	header   http.Header
	body     *io.PipeWriter
	response *http.Response
	begun    chan *http.Response
	once     sync.Once
}

func (a *localAnswer) serve(h http.Handler, r *http.Request) {
	defer func() {
		err := error(nil)
		if recover() != nil {
			err = errAborted
		}
		a.WriteHeader(http.StatusOK)
		for _, name := range a.response.Header.Values("Trailer") {
			if v := a.header.Get(name); v != "" {
				a.response.Trailer.Set(name, v)
			}
		}
		_ = a.body.CloseWithError(err) // the result is always nil
	}()
	h.ServeHTTP(a, r)
}

func (a *localAnswer) Header() http.Header { return a.header }

func (a *localAnswer) WriteHeader(status int) {
	a.once.Do(func() {
		a.response.StatusCode = status
		a.response.Status = http.StatusText(status)
		a.response.Header = a.header.Clone()
		a.begun <- a.response
	})
}

func (a *localAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush sends the header. It has no body to send, because the pipe does not buffer the body.
func (a *localAnswer) Flush() { a.WriteHeader(http.StatusOK) }
